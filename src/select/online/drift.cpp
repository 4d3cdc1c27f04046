#include "select/online/drift.h"

#include <algorithm>
#include <cmath>

namespace unisono {

namespace {

constexpr double kLearned = 12;          // values before the test begins
constexpr double kLeastTolerance = 0.1;  // of logarithms: a tenth
constexpr double kAlarm = 10;            // in deviations; false alarms: about e^-10 a value
constexpr double kLeastAlarm = 2;
constexpr double kMostStep = 1;  // one value, however far off, is no change

}  // namespace

bool Drift::add(double log_seconds) {
  const double deviation = n_ > 1 ? std::sqrt(squares_ / (n_ - 1)) : 0;
  const double step = std::clamp(log_seconds - mean_, -kMostStep, kMostStep);
  if (n_ >= kLearned) {
    const double tolerance = std::max(kLeastTolerance, deviation / 2);
    up_ = std::max(0.0, up_ + step - tolerance);
    down_ = std::max(0.0, down_ - step - tolerance);
    if (std::max(up_, down_) > std::max(kLeastAlarm, kAlarm * deviation)) return true;
  }
  n_ += 1;
  const double before = log_seconds - mean_;
  mean_ += before / n_;
  squares_ += before * (log_seconds - mean_);
  return false;
}

}  // namespace unisono
