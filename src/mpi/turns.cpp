#include "mpi/turns.h"

#include <dlfcn.h>

#include <atomic>
#include <utility>

namespace unisono {

namespace {

constinit std::atomic<Turn> g_turn{nullptr};
constinit std::atomic<bool> g_taken{false};  // the library has been asked, and goes on
thread_local bool t_in_turn = false, t_ends = false;

/// Whether anything is left.
[[maybe_unused]] bool turn() {
  t_in_turn = true;
  const bool left = g_turn.load(std::memory_order_relaxed)();
  t_in_turn = false;
  return left;
}

}  // namespace

bool is_in_turn() { return t_in_turn; }

Ending::Ending() : before_(std::exchange(t_ends, true)) {}
Ending::~Ending() { t_ends = before_; }

void leave_turns() noexcept { g_taken.store(false); }

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

int look_in_turn(int n, MPI_Request* requests, int* count, int* done, MPI_Status* statuses) {
  return PMPI_Testsome(n, requests, count, done, statuses);
}

#elif defined(MPICH_VERSION) && !defined(MPI_ABI)

namespace {

constexpr int kNothing = 0, kDone = 1;  // as MPIX_ASYNC_NOPROGRESS, MPIX_ASYNC_DONE
constexpr int kNoStream = 0x3c000000;   // MPIX_STREAM_NULL
using Start = int (*)(int (*)(void*), void*, int);
using IsComplete = int (*)(MPI_Request);
// Intel MPI, and MPICH before 4.3, have no such functions.
Start find() { return reinterpret_cast<Start>(dlsym(RTLD_DEFAULT, "PMPIX_Async_start")); }
IsComplete find_is_complete() {
  return reinterpret_cast<IsComplete>(dlsym(RTLD_DEFAULT, "PMPIX_Request_is_complete"));
}

// A request may begin while another thread finds nothing left here.
int in_turn(void*) {
  if (turn()) return kNothing;
  g_taken.store(false);
  return turn() && !g_taken.exchange(true) ? kNothing : kDone;
}

}  // namespace

bool has_turns() {
  static const bool has = find() != nullptr && find_is_complete() != nullptr;
  return has && !t_ends;
}

bool take_turns(Turn turn) noexcept {
  g_turn.store(turn, std::memory_order_relaxed);
  static const Start start = find();
  return g_taken.exchange(true) || start(in_turn, nullptr, kNoStream) == MPI_SUCCESS;
}

// PMPI_Test of what is complete has no turn.
int look_in_turn(int n, MPI_Request* requests, int* count, int* done, MPI_Status* statuses) {
  static const IsComplete is_complete = find_is_complete();
  *count = 0;
  for (int i = 0; i < n; ++i) {
    if (is_complete(requests[i]) == 0) continue;
    int flag = 0;
    if (const int rc = PMPI_Test(&requests[i], &flag, &statuses[*count]); rc != MPI_SUCCESS)
      return rc;
    if (flag != 0) done[(*count)++] = i;
  }
  return MPI_SUCCESS;
}

#else

bool has_turns() { return false; }
bool take_turns(Turn) noexcept { return false; }
int look_in_turn(int n, MPI_Request* requests, int* count, int* done, MPI_Status* statuses) {
  return PMPI_Testsome(n, requests, count, done, statuses);
}

#endif

}  // namespace unisono
