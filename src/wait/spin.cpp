#include "wait/spin.h"

#include <sched.h>

#include <algorithm>

#include "wait/poll.h"

namespace unisono::wait {

namespace {

// A process that had the core for longer than so many of the longest spins computes, and gives the
// core back when the system says so: to yield sooner gains nothing.
constexpr int kComputes = 4;
constexpr Time kLeastYield(100);  // a clock may be coarse
// The wait grows by this part with each yield that returns at once.
constexpr int kGrowth = 4;
constexpr int kLooksPerReading = 16;

}  // namespace

void Spin::yielded(Time took) {
  yield_ = std::clamp(took, kLeastYield, yield_);
  const bool soon = took > kYieldsPerChange * yield_ && took <= kComputes * kLongest;
  longest_ =
      soon ? std::max(longest_ / 2, yield_) : std::min(longest_ + longest_ / kGrowth, kLongest);
}

void yield(Spin& spin) {
  const Time before = now();
  sched_yield();
  spin.yielded(now() - before);
}

bool SpinningWait::look_again() {
  if (!yields_) {
    if (++looks_ % kLooksPerReading != 0) return false;
    const Time time = now();
    if (looks_ == kLooksPerReading) begin_ = time;
    yields_ = spin_.has_passed(time - begin_);
    if (!yields_) return false;
  }
  yield(spin_);
  return true;
}

void SpinningWait::end() {
  looks_ = 0;
  yields_ = false;
}

}  // namespace unisono::wait
