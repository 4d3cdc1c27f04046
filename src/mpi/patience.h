// Waiting for what takes milliseconds, while other ranks on this core measure something.
#pragma once
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include "mpi/rank_lost.h"
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

/// Looks until a request of Unisono's own on `comm` is over: the error that it ends with, also
/// because the program has revoked its communicator, whose other ranks may never come.
template <class Pause>
int wait_looking(MPI_Request& request, MPI_Comm comm, const Pause& pause) {
  if (kSimulated)
    return PMPI_Wait(&request, MPI_STATUS_IGNORE);  // who polls keeps it from going on
  bool revoked = false;
  for (int looks = 0, done = 0;; ++looks) {
    const int rc = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (rc != MPI_SUCCESS || done != 0) return rc;
    if (!revoked && is_call_revoked()) {
      revoke(comm);
      revoked = true;
    }
    pause(looks);
  }
}

inline int wait_patiently(MPI_Request& request, MPI_Comm comm) {
  return wait_looking(request, comm, rest);
}

/// Rank 0's bytes, on all ranks that get MPI_SUCCESS.
inline int tell_patiently(void* bytes, int count, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int rc = PMPI_Ibcast(bytes, count, MPI_BYTE, 0, comm, &request);
  return rc == MPI_SUCCESS ? wait_patiently(request, comm) : rc;
}

}  // namespace unisono
