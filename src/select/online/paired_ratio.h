// What runs of two ways that took turns say of the quotient of their times.
#pragma once
#include <span>
#include <utility>

namespace unisono {

/// Of one way's time to the other's, in logarithms.
struct LogRatio {
  double mean = 0, error = 0;
};

/// Precondition: not empty; all times are positive. The same on all ranks that know the same times.
LogRatio log_ratio(std::span<const std::pair<double, double>> blocks);

}  // namespace unisono
