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

/// The communicator's group, to be freed; MPI_GROUP_NULL where there is none. A grid or graph of
/// fewer ranks than the communicator that it was made of has all their group in MPICH 5.0.2, if
/// they are not reordered; those that belong to it come first.
inline MPI_Group group_of(MPI_Comm comm) {
  MPI_Group all = MPI_GROUP_NULL;
  if (PMPI_Comm_group(comm, &all) != MPI_SUCCESS) return MPI_GROUP_NULL;
  int members = 0;
  PMPI_Group_size(all, &members);
  const int size = size_of(comm);
  if (members == size) return all;
  int range[][3] = {{0, size - 1, 1}};
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Group_range_incl(all, 1, range, &group);
  PMPI_Group_free(&all);
  return group;
}

}  // namespace unisono
