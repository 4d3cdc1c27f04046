// One collective call with all its arguments, to be made through MPI_ or PMPI_, plain or _c.
#pragma once
#include <mpi.h>

#include <vector>

#include "schedule/collective.h"

namespace conformance {

using unisono::Collective;

/// Bcast's buffer is recvbuf with recvcount and recvtype; reductions use recvcount and recvtype
/// (MPI_Reduce_scatter recvcounts).
struct Invocation {
  Collective collective = Collective::barrier;
  bool large = false;  ///< the _c form
  const void* sendbuf = nullptr;
  long long sendcount = 0;
  std::vector<long long> sendcounts, sdispls;
  MPI_Datatype sendtype = MPI_DATATYPE_NULL;
  std::vector<MPI_Datatype> sendtypes;
  void* recvbuf = nullptr;
  long long recvcount = 0;
  std::vector<long long> recvcounts, rdispls;
  MPI_Datatype recvtype = MPI_DATATYPE_NULL;
  std::vector<MPI_Datatype> recvtypes;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

enum class EntryPoint { interposed, native };

/// Whether the MPI library has the large-count form of it.
bool has_large_form(Collective collective);

/// What the latest invoke() went through: tells whose fault a hang is.
EntryPoint latest_entry_point();

int invoke(const Invocation& in, EntryPoint through);

enum class Form { blocking, nonblocking, persistent };

/// A call that returns at once: MPI_Ixxx, or MPI_Xxx_init and MPI_Start. Not large.
class Started {
 public:
  Started(const Invocation& in, Form form);
  int code() const { return code_; }
  /// Completes it in one of the ways.
  int complete();
  /// Once it is complete; of a persistent one.
  int start_again();
  int free();

 private:
  Form form_;
  std::vector<int> sendcounts_, sdispls_, recvcounts_, rdispls_;  // MPI reads them until it is over
  std::vector<MPI_Datatype> sendtypes_, recvtypes_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  int code_ = MPI_SUCCESS;
};

}  // namespace conformance
