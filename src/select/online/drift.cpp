#include "select/online/drift.h"

#include <algorithm>
#include <cmath>

namespace unisono {

namespace {

constexpr double kLeastTolerance = 0.1;  // of logarithms: a tenth
// One value, however far off, is no change, and no noise of the others.
constexpr double kMostStep = 1;

}  // namespace

bool Drift::add(double log_seconds) {
  if (n_ == 0) mean_ = log_seconds;
  const double deviation = n_ > 1 ? std::sqrt(squares_ / (n_ - 1)) : 0;
  const double step = std::clamp(log_seconds - mean_, -kMostStep, kMostStep);
  if (n_ >= settings_.learned) {
    const double tolerance = std::max(kLeastTolerance, deviation / 2);
    up_ = std::max(0.0, up_ + step - tolerance);
    down_ = std::max(0.0, down_ - step - tolerance);
    if (std::max(up_, down_) > std::max(settings_.least_alarm, settings_.alarm * deviation))
      return true;
  }
  n_ += 1;
  mean_ += step / n_;
  squares_ += step * step * (n_ - 1) / n_;
  return false;
}

}  // namespace unisono
