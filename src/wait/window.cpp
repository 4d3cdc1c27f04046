#include "wait/window.h"

#include <algorithm>

namespace unisono::wait {

namespace {

// The cost follows what is measured by this part of the difference.
constexpr int kSmoothing = 8;
// A rank that was stopped in its first sleep, or had to wait for its core, has learned nothing.
constexpr Time kMostCost = std::chrono::milliseconds(1);
// Until the costs are known, which the first sleep tells.
constexpr int kFirstYields = 16;
// Where each yield lets others compute, polling costs little, but a rank that waits for its turn on
// the core is not woken out of it.
constexpr int kLongestInSleeps = 64;
// The shortest yield rises by this part with each wait that sleeps, so that it does not stay that
// of another machine.
constexpr int kForgetting = 1024;
// Until one has been measured; most take less.
constexpr Time kFirstYield = std::chrono::microseconds(1);
// In vain it costs half of what a change to another process and back does at least.
constexpr int kLooksAtOnce = kYieldsPerChange / 2;  // in shortest yields
// Where nothing comes at once, one wait of as many finds out whether that has changed.
constexpr int kTriesAgain = 32;

}  // namespace

void SleepCost::overran(Time by) {
  if (is_known())
    cost_ += (std::clamp(by, Time(0), 2 * cost_) - cost_) / kSmoothing;
  else if (by > Time(0))
    cost_ = std::min(by, kMostCost);
}

Time Window::at_once() {
  if (came_at_once_ == 0 && ++waits_ % kTriesAgain != 0) return Time(0);
  return kLooksAtOnce * std::min(yield_, kFirstYield);
}

void Window::looked_at_once(bool came) {
  came_at_once_ = std::clamp(came ? came_at_once_ + 1 : came_at_once_ - 2, 0, kMostAtOnce);
}

void Window::yielded(Time took) { yield_ = std::min(yield_, std::max(took, Time(1))); }

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
  yield_ += std::max(yield_ / kForgetting, Time(1));
  const double needed = wait.yields * (static_cast<double>(lasted.count()) /
                                       static_cast<double>(wait.lasted.count()));
  const bool soon = needed <= yields_of(kMostSleeps, sleep);
  sleeps_ = std::clamp(soon ? 2 * sleeps_ : sleeps_ / 2, 1, kMostSleeps);
}

}  // namespace unisono::wait
