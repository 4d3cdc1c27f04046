#include "select/online/star.h"

#include <algorithm>
#include <numeric>

namespace unisono {

namespace {

// As published the window doubles without end; the times of a window are kept until it ends.
constexpr int kMostFactor = 1024;

Nanoseconds mean(std::span<const Nanoseconds> times) {
  return std::accumulate(times.begin(), times.end(), Nanoseconds{0}) /
         static_cast<Nanoseconds>(times.size());
}

}  // namespace

Star::Star(int arms, StarSettings settings)
    : settings_(settings),
      score_(static_cast<std::size_t>(arms)),
      times_(static_cast<std::size_t>(arms)),
      order_(static_cast<std::size_t>(arms)) {
  std::iota(order_.begin(), order_.end(), 0);
}

std::vector<int> Star::plan() {
  std::vector<int> arms;
  if (tuned_) {
    arms.assign(static_cast<std::size_t>(factor_) * static_cast<std::size_t>(settings_.calls),
                leader());
  } else {
    for (const int arm : order_)
      arms.insert(arms.end(), static_cast<std::size_t>(settings_.calls), arm);
  }
  return arms;
}

std::vector<Nanoseconds> Star::summary(std::span<const Nanoseconds> own,
                                       std::span<const Nanoseconds> /*ends*/) const {
  if (!tuned_) return {own.begin(), own.end()};
  return {mean(own), mean(own.last(static_cast<std::size_t>(settings_.calls)))};
}

void Star::learn(std::span<const Nanoseconds> shared) {
  if (tuned_)
    monitor(static_cast<double>(shared[0]), static_cast<double>(shared[1]));
  else
    tune(shared);
}

void Star::tune(std::span<const Nanoseconds> table) {
  const auto n = static_cast<std::size_t>(settings_.calls), best = std::min(n, n / 2 + 1);
  for (std::size_t arm = 0; arm < order_.size(); ++arm) {
    const auto times = table.subspan(arm * n, n);
    std::vector<double> row(times.begin(), times.end());
    std::sort(row.begin(), row.end());
    score_[arm] =
        std::accumulate(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(best), 0.0) /
        static_cast<double>(best);
    for (double& time : row) time *= 1e-9;
    const MedianEstimate one = estimate_median(row);
    const MedianEstimate native = arm == 0 ? one : times_[0].seconds;
    // Of two intervals that hold with 95 % each.
    times_[arm] = {one,
                   {score_[arm] / score_[0], one.low / native.high, one.high / native.low, 0.9},
                   settings_.calls};
    lost_ += std::max(0.0, score_[arm] / score_[0] - 1) * settings_.calls;
  }
  rank();
  tuned_ = true;
}

// Stable: the same order on all ranks where scores are equal.
void Star::rank() {
  std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
    return score_[static_cast<std::size_t>(a)] < score_[static_cast<std::size_t>(b)];
  });
}

void Star::monitor(double all, double last) {
  const auto best = static_cast<std::size_t>(order_[0]),
             second = static_cast<std::size_t>(order_[1]);
  const double limit = settings_.threshold * score_[second];
  if (all >= limit && last >= limit) {
    score_[best] = all;
    rank();
    factor_ = 2;
    ++switched_;
  } else if (all < limit) {
    factor_ = std::min(2 * factor_, kMostFactor);
  }
}

}  // namespace unisono
