// What MPI says of a communicator, as values.
#pragma once
#include <mpi.h>

namespace unisono {

inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

inline int size_of(MPI_Comm comm) {
  int size = 1;
  PMPI_Comm_size(comm, &size);
  return size;
}

}  // namespace unisono
