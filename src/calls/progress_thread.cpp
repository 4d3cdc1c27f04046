#include "calls/progress_thread.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>

#include "base/config.h"
#include "base/lasting.h"
#include "calls/in_flight.h"

namespace unisono {

namespace {

constinit std::atomic<bool> g_stop{false};
// It stays as it is where the process ends without MPI_Finalize.
std::thread& thread() { return lasting<std::thread>(); }

/// Away from the rank's core, where there are cores that no rank has: the system knows which of
/// them do nothing. A control group, if there is one, still holds.
void leave_the_ranks_core() {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) CPU_SET(core, &all);
  sched_setaffinity(0, sizeof all, &all);
}

// After something has begun it looks again and again, for what goes through a node's memory is over
// in microseconds; then it sleeps between two looks, for who waits for a network has no use for
// more.
constexpr auto kAwake = std::chrono::microseconds(500);
constexpr long kSleepNs = 20'000, kTimerSlackNs = 1'000;

void move_while_there_is_any(bool has_core) {
  using Clock = std::chrono::steady_clock;
  prctl(PR_SET_TIMERSLACK, kTimerSlackNs);
  if (has_core) leave_the_ranks_core();
  while (true) {
    wait_for_flight(g_stop);
    const auto begin = Clock::now();
    while (!g_stop && move_in_flight()) {
      const timespec pause{0, kSleepNs};
      if (has_core && Clock::now() - begin < kAwake)
        sched_yield();
      else
        nanosleep(&pause, nullptr);
    }
    if (g_stop) return;
  }
}

}  // namespace

bool wants_progress_thread() {
  return variable("UNISONO_PROGRESS") == "thread" && !is_switched_off();
}

bool start_progress_thread(bool has_core) {
  // The program's signals are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool runs = true;
  try {
    thread() = std::thread(move_while_there_is_any, has_core);
  } catch (const std::system_error&) {
    runs = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return runs;
}

// While something is in flight it may be in MPI, which waits for this thread: a program that ends
// MPI then is wrong anyway.
void stop_progress_thread() noexcept {
  if (!thread().joinable()) return;
  g_stop = true;
  wake_for_flight();
  if (is_any_in_flight())
    thread().detach();
  else
    thread().join();
}

}  // namespace unisono
