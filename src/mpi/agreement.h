// A yes or no of all ranks.
#pragma once
#include <mpi.h>

namespace unisono {

/// Whether all ranks of `comm` say yes; no where they cannot be asked. Collective over `comm`.
inline bool all_agree(MPI_Comm comm, bool own_answer) {
  int answer = own_answer ? 1 : 0;
  const int rc = PMPI_Allreduce(MPI_IN_PLACE, &answer, 1, MPI_INT, MPI_MIN, comm);
  return rc == MPI_SUCCESS && answer == 1;
}

}  // namespace unisono
