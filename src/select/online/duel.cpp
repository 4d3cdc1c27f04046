#include "select/online/duel.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "select/online/logarithm.h"
#include "select/online/paired_ratio.h"

namespace unisono {

namespace {

// A run is long enough for the clock, for what the call before it left behind, and for one that is
// interrupted not to be all of it; and short enough that a slow way costs little.
constexpr double kRun = 200e-6;  // seconds
constexpr int kLongestRun = 64;  // calls
constexpr double kHopeless = 4;  // times as slow as native
constexpr std::size_t kLeastBlocks = 4;

double mean_of(const std::vector<std::pair<double, double>>& blocks,
               double std::pair<double, double>::*way) {
  double sum = 0;
  for (const auto& block : blocks) sum += block.*way;
  return sum / static_cast<double>(blocks.size());
}

}  // namespace

std::vector<int> Duel::plan() {
  const auto calls = static_cast<std::size_t>(run_);
  std::vector<int> arms(calls, listens_ || !turned_ ? 0 : 1);
  if (!listens_) arms.insert(arms.end(), calls, turned_ ? 0 : 1);
  return arms;
}

std::vector<Nanoseconds> Duel::summary(std::span<const Nanoseconds> own) const {
  const auto half = own.begin() + run_;
  const Nanoseconds first = std::accumulate(own.begin(), half, Nanoseconds{0});
  if (listens_) return {first};
  return {first, std::accumulate(half, own.end(), first)};
}

void Duel::learn(std::span<const Nanoseconds> shared, int /*ranks*/) {
  const double calls = run_ * 1e9;
  const double first = static_cast<double>(std::max<Nanoseconds>(shared[0], 1));
  if (listens_) return heard(first / calls);
  compared(first / calls,
           std::max(static_cast<double>(shared[1]) - first, 1.0) / calls);
}

// The first calls of all make connections: only the last run of native's is believed.
void Duel::heard(double seconds) {
  native_ = seconds;
  if (run_ < kLongestRun && seconds * run_ < kRun) {
    run_ *= 2;
    return;
  }
  run_ = std::clamp(static_cast<int>(kRun / seconds), 1, kLongestRun);
  listens_ = false;
}

void Duel::compared(double first, double second) {
  const double other = turned_ ? first : second, native = turned_ ? second : first;
  turned_ = !turned_;
  lost_ += std::max(0.0, other / native - 1) * run_;
  // The other way's first run has made its memory.
  if (!std::exchange(is_warm_, true)) return;
  blocks_.emplace_back(other, native);
  native_ = mean_of(blocks_, &std::pair<double, double>::second);
  const LogRatio ratio = log_ratio(blocks_);
  const bool hopeless = ratio.mean > same_log(kHopeless);
  if (blocks_.size() < kLeastBlocks && !hopeless) return;
  const bool sure = std::abs(ratio.mean) > 2 * ratio.error;
  if (!sure && !hopeless && blocks_.size() < kMostBlocks) return;
  settle(sure && ratio.mean < 0 ? 1 : 0);
}

void Duel::settle(int winner) {
  is_settled_ = true;
  leader_ = winner;
}

ArmTimes Duel::times(int arm) const {
  std::vector<double> seconds, ratios;
  for (const auto& [other, native] : blocks_) {
    seconds.push_back(arm == 0 ? native : other);
    ratios.push_back(arm == 0 ? 1 : other / native);
  }
  if (seconds.empty()) return {};
  return {estimate_median(seconds), estimate_median(ratios), static_cast<int>(seconds.size()) * run_};
}

std::string Duel::explain() const {
  if (!is_settled_) return listens_ ? "native is timed" : "taking turns";
  char text[80];
  std::snprintf(text, sizeof text, "took %.2f us, native %.2f us",
                mean_of(blocks_, &std::pair<double, double>::first) * 1e6, native_ * 1e6);
  return text;
}

}  // namespace unisono
