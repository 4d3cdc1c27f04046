// How a rank waits for messages.
#pragma once
#include "base/wait_mode.h"

namespace unisono {

/// One wait, from the first test that found nothing to the next that found something.
class Waiter {
 public:
  explicit Waiter(WaitMode mode) : mode_(mode) {}
  void nothing_came();  ///< call after each fruitless test
  void something_came() { tests_ = 0; }

 private:
  WaitMode mode_;
  int tests_ = 0;
};

}  // namespace unisono
