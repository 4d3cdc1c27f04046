#include "wait/window.h"

#include <algorithm>

namespace unisono::wait {

namespace {

// A sleep that costs more than any before may have been late for other reasons: the cost rises by
// this part of the difference.
constexpr int kSmoothing = 8;
// Until the costs are known, which the first sleep tells.
constexpr int kFirstYields = 16;
// Where each yield lets others compute, polling costs little, but a rank that waits for its turn on
// the core is not woken out of it.
constexpr int kLongestInSleeps = 64;
// The least yield rises by this part with each, so that it does not stay that of another machine.
constexpr int kForgetting = 1024;

}  // namespace

void SleepCost::overran(Time by) {
  by = std::max(by, Time(1));
  if (by < cost_)
    cost_ = by;
  else
    cost_ += std::min(by - cost_, cost_) / kSmoothing;
}

void SleepCost::was_ended_after(Time time) { cost_ = std::min(cost_, std::max(time, Time(1))); }

void Window::yielded(Time took) {
  took = std::max(took, Time(1));
  if (took < yield_)
    yield_ = took;
  else
    yield_ += std::min(took - yield_, std::max(yield_ / kForgetting, Time(1)));
}

double Window::yields_of(int sleeps, const SleepCost& sleep) const {
  return sleeps * (static_cast<double>(sleep.cost().count()) / static_cast<double>(yield_.count()));
}

bool Window::has_passed(const Polled& wait, const SleepCost& sleep) const {
  if (wait.yields == 0) return false;
  if (!sleep.is_known()) return wait.yields >= kFirstYields;
  return wait.yields >= yields_of(sleeps_, sleep) || wait.lasted / kLongestInSleeps >= sleep.cost();
}

void Window::slept(const Polled& wait, Time lasted, const SleepCost& sleep) {
  if (wait.yields == 0 || wait.lasted <= Time(0) || !sleep.is_known()) return;
  const double needed = wait.yields * (static_cast<double>(lasted.count()) /
                                       static_cast<double>(wait.lasted.count()));
  const bool soon = needed <= yields_of(kMostSleeps, sleep);
  sleeps_ = std::clamp(soon ? 2 * sleeps_ : sleeps_ / 2, 1, kMostSleeps);
}

}  // namespace unisono::wait
