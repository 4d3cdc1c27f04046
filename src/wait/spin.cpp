#include "wait/spin.h"

#include <sched.h>

#include <algorithm>

#include "wait/poll.h"

namespace unisono::wait {

namespace {

// A yield that took less than so many of the shortest has returned at once: a change to another
// process and back takes longer.
constexpr int kAtOnce = 8;
// Who had the core for longer than so many of the longest waits that spin computes, and gives it
// back when the system says so: to yield sooner gains nothing.
constexpr int kComputes = 4;
// The wait grows by this part with each yield that returns at once.
constexpr int kGrowth = 4;
constexpr int kLooksPerReading = 16;

}  // namespace

void Spin::yielded(Time took) {
  yield_ = std::min(yield_, std::max(took, Time(1)));
  if (took <= kAtOnce * yield_)
    longest_ = std::min(longest_ + longest_ / kGrowth + Time(1), kLongest);
  else if (took <= kComputes * kLongest)
    longest_ = std::max(longest_ / 2, yield_);
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
