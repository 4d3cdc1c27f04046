// One collective call with all its arguments, to be made through MPI_ or PMPI_, in any of its
// forms.
#pragma once
#include <mpi.h>

#include <memory>
#include <vector>

#include "schedule/collective.h"
#include "watch.h"

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

enum class Form { blocking, nonblocking, persistent };

/// Functions are looked up by their names while the program runs: not every MPI library has all,
/// and Unisono adds some.
bool has_function(Collective collective, Form form, bool large, EntryPoint through);

/// The plain form where the large one is not there.
int invoke(const Invocation& in, EntryPoint through);

/// A call that returns at once: MPI_Ixxx, or MPI_Xxx_init and MPI_Start.
class Started {
 public:
  Started(const Invocation& in, Form form, EntryPoint through = EntryPoint::interposed);
  int code() const { return code_; }
  MPI_Request& request() { return request_; }
  /// Completes it in one of the ways.
  int complete(int way);
  /// Once it is complete; of a persistent one.
  int start_again();
  int free();

 private:
  Form form_;
  EntryPoint through_;
  std::shared_ptr<void> arrays_;  // MPI reads them until it is over
  std::vector<MPI_Datatype> sendtypes_, recvtypes_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  int code_ = MPI_SUCCESS;
};

}  // namespace conformance
