#include "mpi/turns.h"

#include <dlfcn.h>
#include <mpi.h>

#include <atomic>

namespace unisono {

namespace {

constinit std::atomic<Turn> g_turn{nullptr};
constinit std::atomic<bool> g_taken{false};  // the library has been asked, and goes on

}  // namespace

#if defined(OPEN_MPI)

namespace {

// What Open MPI's own nonblocking collectives use. It stays: taking it away within a turn is not
// foreseen, and a turn without requests costs a load.
using Register = int (*)(int (*)());
Register find() {
  return reinterpret_cast<Register>(dlsym(RTLD_DEFAULT, "opal_progress_register"));
}

// Nothing that the library counts has come: where ranks share cores it gives way after such a turn.
int in_turn() {
  const Turn turn = g_turn.load(std::memory_order_relaxed);
  turn();
  return 0;
}

}  // namespace

bool has_turns() {
  static const bool has = find() != nullptr;
  return has;
}

bool take_turns(Turn turn) noexcept {
  g_turn.store(turn, std::memory_order_relaxed);
  return g_taken.exchange(true) || find()(in_turn) == 0;
}

#elif defined(MPICH_VERSION) && !defined(MPI_ABI)

namespace {

constexpr int kNothing = 0, kDone = 1;  // as MPIX_ASYNC_NOPROGRESS, MPIX_ASYNC_DONE
constexpr int kNoStream = 0x3c000000;   // MPIX_STREAM_NULL
using Start = int (*)(int (*)(void*), void*, int);
// Intel MPI, and MPICH before 4.3, have no such function.
Start find() { return reinterpret_cast<Start>(dlsym(RTLD_DEFAULT, "PMPIX_Async_start")); }

// A request may begin while another thread finds nothing left here.
int in_turn(void*) {
  const Turn turn = g_turn.load(std::memory_order_relaxed);
  if (turn()) return kNothing;
  g_taken.store(false);
  return turn() && !g_taken.exchange(true) ? kNothing : kDone;
}

}  // namespace

bool has_turns() {
  static const bool has = find() != nullptr;
  return has;
}

bool take_turns(Turn turn) noexcept {
  g_turn.store(turn, std::memory_order_relaxed);
  return g_taken.exchange(true) || find()(in_turn, nullptr, kNoStream) == MPI_SUCCESS;
}

#else

bool has_turns() { return false; }
bool take_turns(Turn) noexcept { return false; }

#endif

}  // namespace unisono
