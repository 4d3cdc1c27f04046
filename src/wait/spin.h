// How long a rank that has a core of its own looks again at once before it yields. Others may want
// that core after all: ranks of another job, threads of the program, or ranks that were bound anew.
// A yield tells, since it returns at once unless somebody else has run.
#pragma once
#include "wait/window.h"

namespace unisono::wait {

/// Of the waits of one kind, by one thread. Reads no clock.
class Spin {
 public:
  bool has_passed(Time spun) const { return spun >= longest_; }
  /// A yield after that took so long.
  void yielded(Time took);

 private:
  static constexpr Time kLongest = std::chrono::microseconds(200);
  static constexpr Time kYield = std::chrono::microseconds(1);  // at first; most take less

  Time longest_ = kLongest;
  Time yield_ = kYield;  // the shortest
};

/// Gives the core away once.
void yield(Spin& spin);

/// One wait that spins.
class SpinningWait {
 public:
  explicit SpinningWait(Spin& spin) : spin_(spin) {}
  /// After a fruitless look. True: the rank has yielded, as it does from then on after each look.
  bool look_again();
  void end();

 private:
  Spin& spin_;
  Time begin_{0};
  int looks_ = 0;
  bool yields_ = false;
};

}  // namespace unisono::wait
