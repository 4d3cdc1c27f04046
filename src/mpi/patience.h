// Waiting for what takes milliseconds, while other ranks on this core measure something.
#pragma once
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include "mpi/simulated.h"

namespace unisono {

/// Between two looks, after so many. Many ranks that spin in MPI_Wait make all times those of the
/// scheduler where they share cores: MPI's connections, of which each takes several turns of both
/// ends, take up to three times as long.
inline void rest(int looks) {
  constexpr int kQuickLooks = 20;
  constexpr useconds_t kBetweenLooks = 200;
  if (looks < kQuickLooks)
    ::sched_yield();
  else
    ::usleep(kBetweenLooks);
}

inline void wait_patiently(MPI_Request& request) {
  if (kSimulated) {  // who polls keeps the simulator from going on
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  int done = 0;
  for (int looks = 0; PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0;
       ++looks)
    rest(looks);
}

/// Rank 0's bytes, on all ranks.
inline void tell_patiently(void* bytes, int count, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Ibcast(bytes, count, MPI_BYTE, 0, comm, &request);
  wait_patiently(request);
}

}  // namespace unisono
