#include "select/online/paired_ratio.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "select/online/logarithm.h"

namespace unisono {

// Without the greatest and the least of four and more; what two or four blocks say of their own
// spread is little, so that some is assumed.
LogRatio log_ratio(std::span<const std::pair<double, double>> blocks) {
  constexpr double kSpread = 0.05, kWorth = 2;
  std::vector<double> logs;
  for (const auto& [own, other] : blocks) logs.push_back(same_log(own / other));
  std::sort(logs.begin(), logs.end());
  std::span<const double> kept(logs);
  if (kept.size() >= 4) kept = kept.subspan(1, kept.size() - 2);
  const auto n = static_cast<double>(kept.size());
  const double middle = std::accumulate(kept.begin(), kept.end(), 0.0) / n;
  double squares = kWorth * kSpread * kSpread;
  for (const double one : kept) squares += (one - middle) * (one - middle);
  return {middle, std::sqrt(squares / (kWorth + n - 1) / n)};
}

}  // namespace unisono
