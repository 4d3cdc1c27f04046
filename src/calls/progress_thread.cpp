#include "calls/progress_thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include <atomic>
#include <optional>
#include <system_error>
#include <thread>

#include "base/config.h"
#include "base/lasting.h"
#include "calls/in_flight.h"
#include "mpi/threads.h"

namespace unisono {

namespace {

constinit std::atomic<bool> g_stop{false};
std::thread& thread() {
  return lasting<std::thread>();
}  // the process may end without MPI_Finalize

/// The last core of those that the process may use, where there are two or more: the program's rank
/// is more often on the first.
std::optional<int> free_core() {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0 || CPU_COUNT(&usable) < 2) return {};
  for (int core = CPU_SETSIZE - 1; core >= 0; --core)
    if (CPU_ISSET(core, &usable)) return core;
  return {};
}

// It sleeps between two looks, for the program may compute on this core. A look that finds nothing
// takes some microseconds, a message between nodes more than the sleep.
constexpr long kSleepNs = 20'000, kTimerSlackNs = 1'000;

void move_while_there_is_any() {
  prctl(PR_SET_TIMERSLACK, kTimerSlackNs);
  while (true) {
    wait_for_flight(g_stop);
    if (g_stop) return;
    if (move_in_flight()) {
      const timespec pause{0, kSleepNs};
      nanosleep(&pause, nullptr);
    }
  }
}

}  // namespace

bool wants_progress_thread() { return variable("UNISONO_PROGRESS") == "thread"; }

const char* start_progress_thread(bool oversubscribed) {
  if (oversubscribed) return "there are more ranks than cores";
  if (!several_threads()) return "the MPI library lets one thread call it";
  const std::optional<int> core = free_core();
  // The program's signals are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const char* problem = nullptr;
  try {
    thread() = std::thread(move_while_there_is_any);
    cpu_set_t one;
    CPU_ZERO(&one);
    if (core) {
      CPU_SET(*core, &one);
      pthread_setaffinity_np(thread().native_handle(), sizeof one, &one);
    }
  } catch (const std::system_error&) {
    problem = "the system has no thread for it";
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return problem;
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
