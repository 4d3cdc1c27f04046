// Waits of the MPI library's own. MPICH and its family look again at once, for as long as it takes,
// which keeps the core from the very rank that is waited for where ranks share cores. There each
// look in vain is followed by a yield, and in a wait that lasts by a nap.
#pragma once
#include <atomic>

#include "base/wait_mode.h"

namespace unisono {

extern constinit std::atomic<bool> g_gives_way;

/// Whether waits of the MPI library give their core away: ranks of this node share cores. Until
/// MPI_Init has ended, what the launcher tells holds.
inline bool gives_way() { return g_gives_way.load(std::memory_order_relaxed); }

/// Sets it from what the launcher and the system tell, before MPI_Init.
void give_way_as_launched() noexcept;
/// Sets it for the rest of the job. WaitMode::yield: without naps.
void give_way(WaitMode mode) noexcept;

/// While this thread is in a function of MPI that waits: only there a wait may nap. A program that
/// tests may do something else between two looks.
class BlockingCall {
 public:
  BlockingCall() noexcept;
  ~BlockingCall();
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;

 private:
  bool outer_;
};

/// After a look in vain. `may_nap`: nobody else waits for what this thread holds. Keeps errno.
void found_nothing(bool may_nap) noexcept;

}  // namespace unisono
