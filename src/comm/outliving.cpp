#include "comm/outliving.h"

#ifdef OPEN_MPI
#include <array>
#include <cstddef>
#include <mutex>
#include <utility>

#include "mpi/rank_lost.h"
#include "mpi/threads.h"
#endif

namespace unisono {

#ifdef OPEN_MPI
namespace {

/// The last ones, each held by a persistent request on it that never starts.
struct Outliving {
  std::mutex mutex;
  std::array<MPI_Request, kOutliving> holds;
  std::size_t oldest = 0;
  Outliving() { holds.fill(MPI_REQUEST_NULL); }
};

// Never destroyed: a program may free communicators in its own exit handlers, after ours.
Outliving& outliving() {
  static Outliving& all = *new Outliving;
  return all;
}

// Not under the mutex: MPI_Comm_free may come to it within the MPI library's own locks.
void replace_oldest(MPI_Request hold) {
  Outliving& all = outliving();
  {
    const std::lock_guard lock(all.mutex);
    std::swap(all.holds[all.oldest], hold);
    all.oldest = (all.oldest + 1) % all.holds.size();
  }
  if (hold != MPI_REQUEST_NULL) PMPI_Request_free(&hold);
}

}  // namespace

// From this rank itself: asking for a message of a rank that has died would be an error.
void let_outlive(MPI_Comm comm, int rank) noexcept try {
  if (g_session_threads || comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF || is_revoked(comm))
    return;
  MPI_Request hold = MPI_REQUEST_NULL;
  if (PMPI_Recv_init(nullptr, 0, MPI_BYTE, rank, 0, comm, &hold) == MPI_SUCCESS)
    replace_oldest(hold);
} catch (...) {  // no memory
}

void end_outliving() noexcept try {
  for (int i = 0; i < kOutliving; ++i) replace_oldest(MPI_REQUEST_NULL);
} catch (...) {
}
#else
void let_outlive(MPI_Comm, int) noexcept {}
void end_outliving() noexcept {}
#endif

}  // namespace unisono
