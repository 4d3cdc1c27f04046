// What all ranks say.
#pragma once
#include <mpi.h>

#include <cstdint>

namespace unisono {

/// Whether all ranks of `comm` say yes; no where they cannot be asked. Collective over `comm`.
inline bool all_agree(MPI_Comm comm, bool own_answer) {
  int answer = own_answer ? 1 : 0;
  const int rc = PMPI_Allreduce(MPI_IN_PLACE, &answer, 1, MPI_INT, MPI_MIN, comm);
  return rc == MPI_SUCCESS && answer == 1;
}

/// Whether all ranks of `comm` have the same number; no where they cannot be asked. Collective.
inline bool all_equal(MPI_Comm comm, std::uint64_t number) {
  unsigned long long extremes[] = {number, ~number};
  const int rc = PMPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm);
  return rc == MPI_SUCCESS && extremes[0] == ~extremes[1];
}

}  // namespace unisono
