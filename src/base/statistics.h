// Order statistics of measured times: medians with distribution-free confidence intervals.
#pragma once
#include <span>
#include <vector>

namespace unisono {

/// The median of a sample and an interval that holds the true median with probability `coverage`,
/// whatever the distribution: two order statistics, coverage by the binomial distribution. The
/// wanted coverage is reached from 6 values on (for 95 %); below that the interval is the range of
/// the values and `coverage` says how little that is worth.
struct MedianEstimate {
  double median = 0;
  double low = 0;
  double high = 0;
  double coverage = 0;
};

/// Precondition: not empty. The mean of the middle two when the number of values is even.
double median(std::span<const double> values);

/// Precondition: not empty; 0 < coverage < 1.
MedianEstimate estimate_median(std::span<const double> values, double coverage = 0.95);

/// Element-wise numerator / denominator: the ratios of pairs measured next to each other, whose
/// median is not moved by a drift that both see. Precondition: equal lengths, no zero denominator.
std::vector<double> paired_ratios(std::span<const double> numerators,
                                  std::span<const double> denominators);

/// P(X <= k) for X binomial with n fair coins.
double binomial_half_cdf(int k, int n);

}  // namespace unisono
