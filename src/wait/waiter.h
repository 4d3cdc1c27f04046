// How a rank waits for messages, its own or the MPI library's.
#pragma once
#include "base/wait_mode.h"
#include "wait/poll.h"
#include "wait/spin.h"

namespace unisono {

/// One wait, from the first test that found nothing to the next that found something.
class Waiter {
 public:
  /// Of the kind of these.
  Waiter(WaitMode mode, wait::Window& window, wait::Spin& spin);
  /// For messages of Unisono's own.
  explicit Waiter(WaitMode mode);
  void nothing_came();  ///< call after each fruitless test
  void something_came();

 private:
  void poll_or_nap();

  WaitMode mode_;
  wait::Poll poll_;          // but in WaitMode::spin
  wait::SpinningWait spin_;  // in WaitMode::spin only
  int naps_ = 0;
  int looks_ = 0;  // since the last nap
};

}  // namespace unisono
