// The turns of an MPI library that moves its messages through UCX, as MPICH of Debian and of PyPI:
// it calls ucp_worker_progress in each look of each of its waits, whatever it waits for. So all of
// them give their core away: point-to-point calls, its own collectives, windows, and communicators
// that are made. The stub leads the library's calls here.
#include <mpi.h>

#if !defined(OPEN_MPI) && !defined(UNISONO_FLAVOUR_SMPI)
#include <atomic>

#include "interpose/entry.h"
#include "interpose/stub/symbol_search.h"
#include "interpose/turn.h"
#include "mpi/library_waits.h"

namespace unisono {
namespace {

using Progress = unsigned (*)(void* worker);
unsigned find_and_turn(void* worker);
constinit std::atomic<Progress> g_progress{find_and_turn};
constinit std::atomic<bool> g_has_turned{false};

unsigned find_and_turn(void* worker) {
  const auto found =
      reinterpret_cast<Progress>(unisono_search_symbol("ucp_worker_progress", unisono_is_not_ours));
  if (found == nullptr) return 0;  // nobody can have made the worker
  g_progress.store(found, std::memory_order_relaxed);
  return found(worker);
}

[[gnu::noinline]] unsigned turn(void* worker) {
  g_has_turned.store(true, std::memory_order_relaxed);
  const unsigned moved = g_progress.load(std::memory_order_relaxed)(worker);
  if (moved == 0) turned_in_vain();
  return moved;
}

constinit std::atomic<unsigned> g_in_vain{0};  // a thread may count over another one's turn

/// Every so many of them.
void count_turn_in_vain() {
  constexpr unsigned kTurnsPerReading = 16;
  const unsigned turns = g_in_vain.load(std::memory_order_relaxed) + 1;
  g_in_vain.store(turns, std::memory_order_relaxed);
  if (turns % kTurnsPerReading == 0 && gives_way_late()) turned_often_in_vain();
}

}  // namespace

bool waits_turn() noexcept { return g_has_turned.load(std::memory_order_relaxed); }

}  // namespace unisono

ENTRY unsigned ucp_worker_progress(void* worker) {
  using namespace unisono;
  if (gives_way()) return turn(worker);
  const unsigned moved = g_progress.load(std::memory_order_relaxed)(worker);
  if (moved == 0) count_turn_in_vain();
  return moved;
}

/// Called by the stub: what the MPI library has found in place of ucp_worker_progress.
ENTRY void unisono_turn_over(void* progress) {
  unisono::g_progress.store(reinterpret_cast<unisono::Progress>(progress),
                            std::memory_order_relaxed);
}
#endif
