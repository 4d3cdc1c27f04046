// The polling of one wait: yields, and reads the clock. Who waits does the sleeping.
#pragma once
#include <ctime>

#include "wait/window.h"

namespace unisono::wait {

Time now();

/// Of this thread.
SleepCost& sleep_cost();

/// From now on each wait yields as often before its first sleep, for measurements.
void fix_yields(int yields);

/// One sleep, from here to the end of it.
class Sleep {
 public:
  /// `wanted`: how long it is to last at most. Where nobody knows what a sleep costs yet, the first
  /// one tells, and is therefore short.
  explicit Sleep(Time wanted);
  timespec limit() const;
  bool is_first() const { return is_first_; }
  void nobody_ended_it();

 private:
  bool is_first_;
  Time limit_, begin_;
};

/// Of a wait of the kind of that window, which its thread alone uses.
class Poll {
 public:
  explicit Poll(Window& window) : window_(window) {}
  ~Poll() { end(); }
  Poll(const Poll&) = delete;
  Poll& operator=(const Poll&) = delete;

  /// After a fruitless look: whether the rank is to look again at once, before it first yields.
  bool looks_at_once();
  /// Gives the core away, and tells the window what that costs where it is to know.
  void yield();
  enum class Next { look, idle, sleep };
  /// After a fruitless look. Gives the core away, unless the rank is to sleep now, and from now on.
  /// It is to be idle about as often as a sleep takes.
  Next look_again();
  /// What it has waited for has come.
  void end();

 private:
  void begin();
  Next look_longer();

  Window& window_;
  int untimed_ = 0;
  Polled polled_;
  Time begin_{0}, last_{0}, idle_{0};
  enum class AtOnce { not_begun, looks, in_vain, is_over } looks_ = AtOnce::not_begun;
  bool polls_ = false, sleeps_ = false;
};

}  // namespace unisono::wait
