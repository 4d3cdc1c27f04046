#include "base/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace unisono {

namespace {

double median_of_sorted(std::span<const double> sorted) {
  const std::size_t n = sorted.size();
  return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

std::vector<double> sorted_copy(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// Logarithms, because 2^-n underflows from n = 1075 on.
double log_probability(int k, int n) {
  return std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) -
         n * std::numbers::ln2;
}

}  // namespace

double median(std::span<const double> values) {
  assert(!values.empty());
  return median_of_sorted(sorted_copy(values));
}

double binomial_half_cdf(int k, int n) {
  double sum = 0;
  for (int i = 0; i <= std::min(k, n); ++i) sum += std::exp(log_probability(i, n));
  return std::min(sum, 1.0);
}

// The interval from the (outside + 1)-th smallest to the (outside + 1)-th largest value misses the
// median when at most `outside` of n fair coins show heads, or tails. The narrowest one is taken.
MedianEstimate estimate_median(std::span<const double> values, double coverage) {
  assert(!values.empty());
  const std::vector<double> sorted = sorted_copy(values);
  const int n = static_cast<int>(sorted.size());
  int outside = 0;
  double tail = std::exp(log_probability(0, n));
  while (2 * (outside + 1) < n) {
    const double wider_tail = tail + std::exp(log_probability(outside + 1, n));
    if (1 - 2 * wider_tail < coverage) break;
    tail = wider_tail;
    ++outside;
  }
  return {median_of_sorted(sorted), sorted[static_cast<std::size_t>(outside)],
          sorted[static_cast<std::size_t>(n - 1 - outside)], std::max(0.0, 1 - 2 * tail)};
}

std::vector<double> paired_ratios(std::span<const double> numerators,
                                  std::span<const double> denominators) {
  assert(numerators.size() == denominators.size());
  std::vector<double> ratios(numerators.size());
  std::transform(numerators.begin(), numerators.end(), denominators.begin(), ratios.begin(),
                 [](double a, double b) { return a / b; });
  return ratios;
}

}  // namespace unisono
