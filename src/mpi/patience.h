// Waiting for what takes milliseconds, while other ranks on this core measure something.
#pragma once
#include <mpi.h>
#include <unistd.h>

#include "mpi/simulated.h"

namespace unisono {

/// Looks now and then, and sleeps between. Many ranks that spin in MPI_Wait make all times those of
/// the scheduler where they share cores.
inline void wait_patiently(MPI_Request& request) {
  constexpr useconds_t kBetweenLooks = 200;
  if (kSimulated) {  // who polls keeps the simulator from going on
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  int done = 0;
  while (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0)
    ::usleep(kBetweenLooks);
}

}  // namespace unisono
