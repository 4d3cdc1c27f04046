// Waits of the MPI library's own. MPICH and its family look again at once, for as long as it takes,
// which keeps the core from the very rank that is waited for where ranks share cores. There each
// look in vain is followed by a yield, and in a wait that lasts by a nap.
#pragma once
#include <atomic>
#include <string_view>

#include "base/wait_mode.h"

namespace unisono {

extern constinit std::atomic<WaitMode> g_library_waits;
extern constinit std::atomic<bool> g_library_yields;

/// Whether waits of the MPI library give their core away: ranks of this node share cores. Until
/// MPI_Init has ended, what the launcher tells holds.
inline bool gives_way() {
  return g_library_waits.load(std::memory_order_relaxed) != WaitMode::spin;
}

/// Whether point-to-point calls of the library yield by themselves, but for MPI_Probe: those of
/// Intel MPI and of MPICH from 5 on do.
inline bool library_yields() { return g_library_yields.load(std::memory_order_relaxed); }

/// The same, from the first line of MPI_Get_library_version.
bool yields_by_itself(std::string_view library);

/// Sets it from what the launcher and the system tell, before MPI_Init.
void give_way_as_launched() noexcept;
/// Sets it for the rest of the job. WaitMode::yield: without naps.
void give_way(WaitMode mode, bool library_yields) noexcept;

/// While this thread is in a function of MPI that waits. Elsewhere a program may do something else
/// between two looks, and so never naps. An error handler may leave the call by longjmp(): then the
/// thread naps in other waits, too.
class BlockingCall {
 public:
  explicit BlockingCall(bool yields_by_itself = false) noexcept;
  ~BlockingCall();
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;

 private:
  bool outer_;
};

/// In such a call: a look has found nothing.
void found_nothing() noexcept;
/// A turn of the MPI library, in whatever function, has moved nothing. Keeps errno.
void turned_in_vain() noexcept;

}  // namespace unisono
