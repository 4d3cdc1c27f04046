#include "exec/wait.h"

#include <sched.h>

#include <algorithm>
#include <climits>
#include <ctime>

namespace unisono {

namespace {

// A spinning rank whose message is this late is waiting for a rank that computes, or that has no
// core after all (a host with several namespaces looks like several hosts): from then on it yields,
// which costs nothing when nobody else wants the core.
constexpr int kSpins = 2000;
// A yield costs about a microsecond when somebody else runs in between. After this many the rank
// sleeps, first briefly, so that a busy neighbour gets whole time slices.
constexpr int kYields = 200;
constexpr long kShortestSleep = 20'000;  // ns
constexpr long kLongestSleep = 100'000;

}  // namespace

void Waiter::nothing_came() {
  if (tests_ < INT_MAX) ++tests_;
  if (mode_ == WaitMode::spin && tests_ < kSpins) return;
  if (mode_ != WaitMode::sleep || tests_ < kYields) {
    sched_yield();
    return;
  }
  const long doublings = std::min((tests_ - kYields) / 16, 3);
  const timespec pause{0, std::min(kShortestSleep << doublings, kLongestSleep)};
  nanosleep(&pause, nullptr);
}

}  // namespace unisono
