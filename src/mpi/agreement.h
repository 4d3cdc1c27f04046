// What all ranks say.
#pragma once
#include <mpi.h>

#include <cstdint>

namespace unisono {

/// Of these answers, a bit each, those that all ranks of `comm` say yes to; none where they cannot
/// be asked. Collective over `comm`.
inline unsigned all_agree_on(MPI_Comm comm, unsigned own_answers) {
  unsigned answers = own_answers;
  const int rc = PMPI_Allreduce(MPI_IN_PLACE, &answers, 1, MPI_UNSIGNED, MPI_BAND, comm);
  return rc == MPI_SUCCESS ? answers : 0;
}

/// The same of one answer.
inline bool all_agree(MPI_Comm comm, bool own_answer) {
  return all_agree_on(comm, own_answer ? 1 : 0) == 1;
}

/// Whether all ranks of `comm` have the same number; no where they cannot be asked. Collective.
inline bool all_equal(MPI_Comm comm, std::uint64_t number) {
  unsigned long long extremes[] = {number, ~number};
  const int rc = PMPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm);
  return rc == MPI_SUCCESS && extremes[0] == ~extremes[1];
}

}  // namespace unisono
