#include "mpi/library_waits.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <utility>

#include "base/launcher.h"

namespace unisono {

constinit std::atomic<bool> g_gives_way{false};

namespace {

constinit std::atomic<bool> g_settled{false};
constinit std::atomic<bool> g_naps{true};

/// Of this thread, in nanoseconds of the monotonic clock.
struct Wait {
  bool in_blocking_call = false;
  std::int64_t begin = 0;   // of the wait; 0: none is under way
  std::int64_t last = 0;    // end of the last look in vain, or of what followed it
  std::int64_t yields = 0;  // in this wait
  std::int64_t napped = 0;  // in this wait, for so long
  /// How long a wait may keep the core before it naps, in costs of a nap.
  double window = 1;
};
thread_local Wait t_wait;

/// What a nap takes beyond what was asked for: the wake-up, and what the kernel adds to find others
/// to wake up at the same time. Learned from each nap.
constinit std::atomic<std::int64_t> g_nap_costs{0};
/// The quickest yield: nobody else wanted the core. 0: none was seen.
constinit std::atomic<std::int64_t> g_yield_costs{0};

constexpr std::int64_t kLongestNap = 1'000'000;
// Before the first nap has shown what a nap costs.
constexpr std::int64_t kFirstYields = 64;
// How far the window goes beyond the cost of a nap, and below.
constexpr double kWidest = 16;

std::int64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

void yield(std::int64_t begin) {
  sched_yield();
  ++t_wait.yields;
  t_wait.last = now();
  const std::int64_t took = t_wait.last - begin;
  const std::int64_t least = g_yield_costs.load(std::memory_order_relaxed);
  if (least == 0 || took < least) g_yield_costs.store(took, std::memory_order_relaxed);
}

void nap(std::int64_t begin, std::int64_t length) {
  const timespec asked{0, length};
  nanosleep(&asked, nullptr);
  t_wait.last = now();
  t_wait.napped += t_wait.last - begin;
  const std::int64_t cost = std::max<std::int64_t>(t_wait.last - begin - length, 1);
  const std::int64_t before = g_nap_costs.load(std::memory_order_relaxed);
  g_nap_costs.store(before == 0 ? cost : before + (cost - before) / 8, std::memory_order_relaxed);
}

/// Whether this look belongs to a program that does something else between two looks, and so does
/// not wait: it follows the last one after more than a few of the quickest yields.
bool is_a_test(std::int64_t begin) {
  const std::int64_t yield_costs = g_yield_costs.load(std::memory_order_relaxed);
  return yield_costs != 0 && begin - t_wait.last > 4 * yield_costs;
}

/// Whether this wait has kept the core for as long as it may: its yields, each as long as one takes
/// when nobody else runs meanwhile.
bool has_used_window() {
  const std::int64_t kept = t_wait.yields * g_yield_costs.load(std::memory_order_relaxed);
  const std::int64_t costs = g_nap_costs.load(std::memory_order_relaxed);
  return costs == 0 ? t_wait.yields >= kFirstYields
                    : static_cast<double>(kept) > t_wait.window * static_cast<double>(costs);
}

/// Waits to come are like this one: after a nap that ended a wait which yields would have ended
/// soon they yield for longer, and after a long wait they nap earlier.
void learn_window() {
  const std::int64_t costs = g_nap_costs.load(std::memory_order_relaxed);
  if (t_wait.napped == 0) return;
  if (t_wait.napped < 4 * costs)
    t_wait.window = std::min(2 * t_wait.window, kWidest);
  else
    t_wait.window = std::max(t_wait.window / 2, 1 / kWidest);
}

}  // namespace

void give_way_as_launched() noexcept {
  if (g_settled.load(std::memory_order_relaxed)) return;
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  g_gives_way.store(cores > 0 && unisono_job_here().ranks > cores, std::memory_order_relaxed);
}

void give_way(WaitMode mode) noexcept {
  g_settled.store(true, std::memory_order_relaxed);
  g_naps.store(mode == WaitMode::sleep, std::memory_order_relaxed);
  g_gives_way.store(mode != WaitMode::spin, std::memory_order_relaxed);
}

BlockingCall::BlockingCall() noexcept : outer_(std::exchange(t_wait.in_blocking_call, true)) {
  t_wait.begin = t_wait.last = t_wait.yields = t_wait.napped = 0;
}
BlockingCall::~BlockingCall() {
  t_wait.in_blocking_call = outer_;
  learn_window();
}

// A wait yields for as long as a nap would cost, and then naps for an eighth of what it has lasted:
// what comes meanwhile is late by little.
void found_nothing(bool may_nap) noexcept {
  Wait& wait = t_wait;
  const std::int64_t begin = now();
  // A turn looks at the network before it looks at the node's memory: after the first one nothing
  // is known yet.
  const bool is_first = wait.in_blocking_call ? wait.begin == 0 : is_a_test(begin);
  if (is_first) {
    wait.begin = wait.last = begin;
    return;
  }
  const int error = errno;
  if (may_nap && wait.in_blocking_call && g_naps.load(std::memory_order_relaxed) &&
      has_used_window())
    nap(begin, std::min((begin - wait.begin) / 8, kLongestNap));
  else
    yield(begin);
  errno = error;
}

}  // namespace unisono
