// Preloaded under an application: the last rank gets something wrong from its collectives, so that
// the application must say that its result is wrong.
#include <mpi.h>

#include <algorithm>
#include <cstdint>

namespace {

/// Where the last rank's buffer begins; nothing on the others.
void* of_last(void* buffer, MPI_Comm comm) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  return rank == ranks - 1 ? buffer : nullptr;
}

/// Still a number, a valid key, and a word of a page, behind what says where it belongs.
void spoil(void* buffer, MPI_Datatype type) {
  if (buffer == nullptr) return;
  if (type == MPI_DOUBLE) static_cast<double*>(buffer)[0] += 0.25;
  if (type == MPI_BYTE) static_cast<unsigned char*>(buffer)[20] ^= 1;
  if (type == MPI_INT32_T) {
    auto* keys = static_cast<std::int32_t*>(buffer);
    keys[0] = *std::find_if(keys, keys + 1024, [&](std::int32_t key) { return key != keys[0]; });
  }
}

}  // namespace

extern "C" int MPI_Alltoall(const void* in, int n, MPI_Datatype type, void* out, int m,
                            MPI_Datatype out_type, MPI_Comm comm) {
  const int status = PMPI_Alltoall(in, n, type, out, m, out_type, comm);
  spoil(of_last(out, comm), out_type);
  return status;
}

extern "C" int MPI_Alltoallv(const void* in, const int* n, const int* at, MPI_Datatype type,
                             void* out, const int* m, const int* out_at, MPI_Datatype out_type,
                             MPI_Comm comm) {
  const int status = PMPI_Alltoallv(in, n, at, type, out, m, out_at, out_type, comm);
  spoil(of_last(out, comm), out_type);
  return status;
}

extern "C" int MPI_Allgather(const void* in, int n, MPI_Datatype type, void* out, int m,
                             MPI_Datatype out_type, MPI_Comm comm) {
  const int status = PMPI_Allgather(in, n, type, out, m, out_type, comm);
  spoil(of_last(out, comm), out_type);
  return status;
}
