#include "wait/poll.h"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>

#include "wait/awake.h"

namespace unisono::wait {

constinit std::atomic<int> g_reasons_to_stay_awake{0};

namespace {

// Most waits are over by then, and nothing about them is to be decided.
constexpr int kUntimedYields = 4;

constexpr int kLearned = -1;
constexpr int kFixedPerIdle = 16;
constinit std::atomic<int> g_yields{kLearned};

/// How much later than asked for Linux may end a sleep to spare the processor interrupts, as it is
/// by itself. Where a program or its starter has allowed more, that is a part of what sleeps cost.
Time slack() {
  constexpr Time kStandard = std::chrono::microseconds(50);
  return std::min(Time(std::max(prctl(PR_GET_TIMERSLACK), 0)), kStandard);
}

}  // namespace

Time now() {
  return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now().time_since_epoch());
}

void fix_yields(int yields) { g_yields.store(yields, std::memory_order_relaxed); }

SleepCost& sleep_cost() {
  thread_local SleepCost cost;
  return cost;
}

Sleep::Sleep(Time wanted)
    : is_first_(!sleep_cost().is_known()), limit_(is_first_ ? Time(1) : wanted), begin_(now()) {}

timespec Sleep::limit() const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit_);
  return {seconds.count(), (limit_ - seconds).count()};
}

void Sleep::nobody_ended_it() { sleep_cost().overran(now() - begin_ - limit_ - slack()); }

bool Poll::looks_at_once() {
  if (looks_ == AtOnce::not_begun) {
    const Time most = window_.at_once();
    looks_ = most > Time(0) ? AtOnce::looks : AtOnce::is_over;
    if (most > Time(0)) last_ = now() + most;
  } else if (looks_ == AtOnce::looks && now() >= last_) {
    looks_ = AtOnce::in_vain;
    window_.looked_at_once(false);
  }
  return looks_ == AtOnce::looks;
}

void Poll::yield() {
  if (looks_ != AtOnce::in_vain) {
    sched_yield();
    return;
  }
  looks_ = AtOnce::is_over;
  const Time before = now();
  sched_yield();
  window_.yielded(now() - before);
}

Poll::Next Poll::look_again() {
  const int fixed = g_yields.load(std::memory_order_relaxed);
  if (fixed == kLearned && looks_at_once()) return Next::look;
  if (untimed_ >= (fixed == kLearned ? kUntimedYields : fixed))
    return fixed == kLearned ? look_longer() : Next::sleep;
  yield();
  return ++untimed_ % kFixedPerIdle == 0 ? Next::idle : Next::look;
}

void Poll::begin() {
  polls_ = true;
  polled_ = {};
  begin_ = last_ = idle_ = now();
}

Poll::Next Poll::look_longer() {
  if (sleeps_) return Next::sleep;
  if (!polls_) begin();
  const SleepCost& sleep = sleep_cost();
  sleeps_ = window_.has_passed(polled_, sleep);
  if (sleeps_) return Next::sleep;
  sched_yield();
  const Time time = now();
  window_.yielded(time - last_);
  last_ = time;
  polled_ = {polled_.yields + 1, time - begin_};
  if (!sleep.is_known() || time - idle_ < sleep.cost()) return Next::look;
  idle_ = time;
  return Next::idle;
}

void Poll::end() {
  if (looks_ == AtOnce::looks) window_.looked_at_once(true);
  looks_ = AtOnce::not_begun;
  if (sleeps_) window_.slept(polled_, now() - begin_, sleep_cost());
  polls_ = sleeps_ = false;
  untimed_ = 0;
}

}  // namespace unisono::wait
