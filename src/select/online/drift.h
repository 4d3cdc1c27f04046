// Whether a sequence of times is no longer what it was.
#pragma once

namespace unisono {

struct DriftSettings {
  double learned = 12;  ///< values before the test begins
  double alarm = 10;    ///< in deviations; false alarms: about e^-alarm a value
  double least_alarm = 2;
};

/// Page-Hinkley's test (Page 1954) on logarithms, both ways: faster is a change as well. What is
/// tolerated, and what is needed for an alarm, goes with the noise of the sequence itself.
class Drift {
 public:
  explicit Drift(DriftSettings settings = {}) : settings_(settings) {}
  /// The next value; true: the mean has changed.
  bool add(double log_seconds);
  void clear() { *this = Drift(settings_); }

 private:
  DriftSettings settings_;
  double n_ = 0, mean_ = 0, squares_ = 0;
  double up_ = 0, down_ = 0;  // evidence for a larger and for a smaller mean, at least 0
};

}  // namespace unisono
