// The cores of a machine that has fewer of them than ranks.
#pragma once
#include <vector>

namespace unisono {

/// Who computes keeps a core until it is done. Who waits for a message gives its core away, and has
/// the message no sooner than a core is free. It stands for every scheduler that lets whoever
/// computes go on for longer than messages take; Linux does for some 3 ms.
class SharedCores {
 public:
  explicit SharedCores(int cores) : cores_(cores) {}

  /// Somebody has a core in [begin, end).
  void take(double begin, double end) {
    if (end > begin) taken_.push_back({begin, end});
  }
  /// The earliest moment from `now` on at which one is free, as far as they are taken so far.
  double free_from(double now);
  /// Nobody asks for a moment before `now` any more.
  void forget_before(double now);

 private:
  struct Interval {
    double begin, end;
  };

  /// One call asks in the order of time, and takes a core for every message: what is over by then
  /// it need not look at again. The next call begins before the last rank has left.
  void set_aside_until(double now);

  int cores_;
  std::vector<Interval> taken_, over_;
  double asked_ = 0;
};

}  // namespace unisono
