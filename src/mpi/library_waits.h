// Waits of the MPI library's own. MPICH and its family look again at once, for as long as it takes,
// which keeps the core from the very rank that is waited for where ranks share cores. There each
// look in vain is followed by a yield, and in a wait that lasts by a nap. Where each rank has its
// core, a wait that lasts yields now and then, and oftener where somebody else wants the core.
#pragma once
#include <atomic>
#include <optional>
#include <string_view>

#include "base/wait_mode.h"

namespace unisono {

/// How the point-to-point calls of an MPI library wait.
struct LibraryWaits {
  bool yield = false;  ///< by themselves, but for MPI_Probe: those of Intel MPI and MPICH 5
  /// Also while another thread is in a call, a wait may be made of looks. MPICH before 4.0 calls
  /// its own waits with a lock held, which looks do not let go of.
  bool may_look_among_threads = true;
};

/// From the first line of MPI_Get_library_version.
LibraryWaits waits_of(std::string_view library);

/// When waits of the MPI library give their core away.
enum class GivesWay : unsigned char {
  never,
  late,    ///< once they have lasted: each rank has a core
  yields,  ///< at each look in vain: ranks of this node share cores
  naps,    ///< and sleep where they last
};

/// `asked`: by the user, if at all.
GivesWay when_waits_give_way(std::optional<WaitMode> asked, bool shares_cores);

extern constinit std::atomic<GivesWay> g_gives_way;
extern constinit std::atomic<LibraryWaits> g_library;

/// Whether ranks of this node share cores. Until MPI_Init has ended, what the launcher tells holds.
inline bool gives_way() { return g_gives_way.load(std::memory_order_relaxed) >= GivesWay::yields; }
inline bool gives_way_late() {
  return g_gives_way.load(std::memory_order_relaxed) == GivesWay::late;
}

/// Whether point-to-point calls of the library yield by themselves, but for MPI_Probe.
inline bool library_yields() { return g_library.load(std::memory_order_relaxed).yield; }

/// Whether a wait of the library may be made of looks.
bool may_look();

/// Sets it from what the launcher and the system tell, before MPI_Init.
void give_way_as_launched() noexcept;
/// Sets it for the rest of the job.
void give_way(GivesWay when, LibraryWaits library) noexcept;
/// For a job in which Unisono does nothing after all: never, unless it is set.
void give_way_no_more() noexcept;

/// This thread is in a function of MPI that waits. Elsewhere a program may do something else
/// between two looks, and so never naps. Returns what leave_blocking_call() is to be given. An
/// error handler may leave the call by an exception or by longjmp(): then the thread naps in other
/// waits, too. No object does this by its destructor, since the program's exceptions must pass, and
/// its unwinder is not that of Unisono.
bool enter_blocking_call(bool yields_by_itself = false) noexcept;
void leave_blocking_call(bool was_in_one) noexcept;

/// In such a call: a look has found nothing.
void found_nothing() noexcept;
/// A turn of the MPI library, in whatever function, has moved nothing. Keeps errno.
void turned_in_vain() noexcept;
/// The same where each rank has its core, after some more turns in vain.
void turned_often_in_vain() noexcept;

}  // namespace unisono
