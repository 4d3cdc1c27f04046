#include "comm/ordinary.h"

#include <dlfcn.h>

#include "mpi/comm.h"

namespace unisono {

namespace {

/// A function that not all libraries have; null where this one lacks it.
template <class Function>
Function* look_up(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

bool has_threads(MPI_Comm comm) {
  static auto* const test = look_up<int(MPI_Comm, int*)>("PMPIX_Comm_test_threadcomm");
  int threads = 0;
  return test != nullptr && (test(comm, &threads) != MPI_SUCCESS || threads != 0);
}

/// A grid or graph of fewer ranks than the communicator that it was made of has all their group in
/// MPICH 5.0.2 (group_of).
bool may_have_longer_group(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  return PMPI_Topo_test(comm, &kind) == MPI_SUCCESS && kind != MPI_UNDEFINED;
}

}  // namespace

bool is_ordinary(MPI_Comm comm) {
  int inter = 0;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || has_threads(comm)) return false;
  if (inter != 0) return true;
  MPI_Group group = MPI_GROUP_NULL;
  if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS) return false;
  int members = 0, rank = MPI_UNDEFINED;
  PMPI_Group_size(group, &members);
  PMPI_Group_rank(group, &rank);
  PMPI_Group_free(&group);
  const int size = size_of(comm);
  return rank == rank_in(comm) &&
         (members == size || (members > size && may_have_longer_group(comm)));
}

// A process has its streams in the order of MPIX_Stream_comm_create_multiplex; the first one is
// there if any is.
bool has_stream(MPI_Comm comm) {
#if defined(MPIX_STREAM_NULL)
  static auto* const get = look_up<int(MPI_Comm, int, MPIX_Stream*)>("PMPIX_Comm_get_stream");
  MPIX_Stream stream = MPIX_STREAM_NULL;
  return get != nullptr && get(comm, 0, &stream) == MPI_SUCCESS && stream != MPIX_STREAM_NULL;
#else
  static_cast<void>(comm);
  return false;
#endif
}

}  // namespace unisono
