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
  bool large = false;        ///< the _c form
  bool nonblocking = false;  ///< MPI_Ixxx, and one of the ways to complete it; not large
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

}  // namespace conformance
