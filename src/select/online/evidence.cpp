#include "select/online/evidence.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "select/online/logarithm.h"

namespace unisono {

namespace {

// A time that is off by more says no more: factor e^2 = 7.4.
constexpr double kMostDifference = 2;
// What the variance is thought to be beforehand, worth so many values.
constexpr double kPriorDeviation = 0.3, kPriorValues = 4;
// A long run ends in the recent past.
constexpr std::size_t kKept = 64;
constexpr std::size_t kRecent = 15;

/// The outer eighth on each side counts as much as what is next to it. The share that is left.
double winsorise(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size(), outer = n / 8;
  for (std::size_t i = 0; i < outer; ++i) {
    values[i] = values[outer];
    values[n - 1 - i] = values[n - 1 - outer];
  }
  return 1 - 2 * static_cast<double>(outer) / static_cast<double>(n);
}

}  // namespace

void Evidence::add(int arm, double seconds) {
  blocks_.back()[static_cast<std::size_t>(arm)] = seconds;
  if (blocks_.size() > kKept) blocks_.erase(blocks_.begin());
}

Comparison Evidence::compare(int a, int b) const {
  if (a == b) return {count(a)};
  std::vector<double> differences;
  for (const auto& block : blocks_) {
    const double first = block[static_cast<std::size_t>(a)],
                 second = block[static_cast<std::size_t>(b)];
    if (first == kAbsent || second == kAbsent) continue;
    const double difference = same_log(first) - same_log(second);
    differences.push_back(std::clamp(difference, -kMostDifference, kMostDifference));
  }
  if (differences.empty()) return {};
  const double kept = winsorise(differences);
  const auto n = static_cast<double>(differences.size());
  double mean = 0, squares = 0;
  for (const double d : differences) mean += d / n;
  for (const double d : differences) squares += (d - mean) * (d - mean);
  // By the share, as for trimmed means (Tukey, McLaughlin 1963).
  const double variance =
      (squares / (kept * kept) + kPriorValues * kPriorDeviation * kPriorDeviation) /
      (kPriorValues + n - 1);
  const double error = error_ / std::max(arms_ - 1, 1);
  const double half =
      std::sqrt(variance * 2 * (n + 1) / (n * n) * same_log(std::sqrt(n + 1) / error));
  return {static_cast<int>(differences.size()), mean, half, std::sqrt(variance / n)};
}

std::vector<double> Evidence::recent(int arm) const {
  std::vector<double> times;
  for (auto block = blocks_.rbegin(); block != blocks_.rend() && times.size() < kRecent; ++block)
    if (const double t = (*block)[static_cast<std::size_t>(arm)]; t != kAbsent) times.push_back(t);
  return times;
}

int Evidence::count(int arm) const {
  return static_cast<int>(std::count_if(blocks_.begin(), blocks_.end(), [&](const auto& block) {
    return block[static_cast<std::size_t>(arm)] != kAbsent;
  }));
}

}  // namespace unisono
