#include "wait/waiter.h"

#include <sched.h>

#include <algorithm>
#include <ctime>

#include "wait/kept_errno.h"

namespace unisono {

namespace {

// A nap is at first as long as it costs, so that a message is hardly later than a sleeper would be
// that somebody wakes; the longer the wait, the more of its time a busy neighbour gets.
constexpr int kNapsPerDoubling = 16;
constexpr int kDoublings = 2;
// What a wait is for may come in many pieces, each with a look.
constexpr int kLooksBetweenNaps = 16;

// Of this thread, for all waits for messages of Unisono's own.
constinit thread_local wait::Window t_window;
constinit thread_local wait::Spin t_spin;

}  // namespace

Waiter::Waiter(WaitMode mode, wait::Window& window, wait::Spin& spin)
    : mode_(mode), poll_(window), spin_(spin) {}
Waiter::Waiter(WaitMode mode) : Waiter(mode, t_window, t_spin) {}

void Waiter::nothing_came() {
  if (mode_ == WaitMode::sleep) return poll_or_nap();
  if (mode_ == WaitMode::spin)
    spin_.look_again();
  else if (!poll_.looks_at_once())
    poll_.yield();
}

void Waiter::something_came() {
  naps_ = looks_ = 0;
  poll_.end();
  spin_.end();
}

void Waiter::poll_or_nap() {
  if (poll_.look_again() != wait::Poll::Next::sleep) return;
  if (naps_ > 0 && looks_ < kLooksBetweenNaps) {
    ++looks_;
    sched_yield();
    return;
  }
  looks_ = 0;
  const int doublings = naps_ / kNapsPerDoubling;
  if (naps_ < kNapsPerDoubling * kDoublings) ++naps_;
  wait::Sleep nap(wait::sleep_cost().cost() * (1 << doublings));
  const timespec limit = nap.limit();
  const wait::KeptErrno kept;
  if (nanosleep(&limit, nullptr) == 0) nap.nobody_ended_it();
}

}  // namespace unisono
