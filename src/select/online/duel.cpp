#include "select/online/duel.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "select/online/paired_ratio.h"

namespace unisono {

namespace {

// A run is long enough for the clock, for what the call before it left behind, and for one that is
// interrupted not to be all of it; where ranks share cores, for several turns of all of them: 4
// ranks of Open MPI on 2 cores make an alltoall of 8 B in 4 us for 0.3 ms, and in 36 us on and on.
constexpr double kRun = 200e-6, kRunOfTurns = 1.5e-3;  // seconds
// Before it has taken so many runs a kind is not worth asking: where the other way is hopeless,
// asking costs a tenth of that.
constexpr double kWorthAsking = 10;
constexpr int kLongestRun = 512;  // calls
constexpr int kMostHeard = 1024;  // calls of an epoch before it is worth asking
constexpr int kMostIdle = 8192;
constexpr int kFirstRun = 2;
constexpr double kHopeless = 4;  // times as slow
constexpr double kSurely = 3,
                 kProbably = 2;  // standard errors; the former is asked after each block
constexpr double kAlike = 0.05;  // logarithm: nothing to be won
constexpr std::size_t kFewBlocks = 2, kLeastBlocks = 4;

double mean_of(const std::vector<std::pair<double, double>>& blocks,
               double std::pair<double, double>::*way) {
  double sum = 0;
  for (const auto& block : blocks) sum += block.*way;
  return sum / static_cast<double>(blocks.size());
}

}  // namespace

Duel::Duel(int prior, int first, bool shares_cores, double patience)
    : run_(first),
      leader_(prior),
      run_seconds_(shares_cores ? kRunOfTurns : kRun),
      worth_asking_(kWorthAsking * patience * run_seconds_) {}

std::vector<int> Duel::plan() {
  const auto calls = static_cast<std::size_t>(run_);
  std::vector<int> arms(calls, listens_ ? leader_ : turned_ ? 1 : 0);
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
  compared(first / calls, std::max(static_cast<double>(shared[1]) - first, 1.0) / calls);
}

void Duel::heard(double seconds) {
  spent_ += seconds * (run_ + std::exchange(idle_, 0));
  const double missing = worth_asking_ - spent_;
  if (missing <= 0) {
    listens_ = false;
    run_ = kFirstRun;
  } else if (leader_ == 0) {
    idle_ = static_cast<int>(std::min<double>(missing / seconds, kMostIdle));
  } else {
    run_ = std::min(2 * run_, kMostHeard);
  }
}

void Duel::compared(double first, double second) {
  const double other = turned_ ? first : second, native = turned_ ? second : first;
  turned_ = !turned_;
  lost_ += std::max(0.0, other / native - 1) * run_;
  run_ =
      std::clamp(static_cast<int>(run_seconds_ / std::max(other, native)), kFirstRun, kLongestRun);
  // The first runs make connections, and memory.
  if (!std::exchange(is_warm_, true)) return;
  blocks_.emplace_back(other, native);
  const LogRatio ratio = log_ratio(blocks_);
  if (is_hopeless(0)) return settle(1);
  if (is_hopeless(1)) return settle(0);
  const double errors = std::abs(ratio.mean) / ratio.error;
  const int faster = ratio.mean < 0 ? 1 : 0;
  if (blocks_.size() >= kLeastBlocks && errors > kSurely) return settle(faster);
  // Also where ranks wait for each other in most of a call.
  if (blocks_.size() >= kLeastBlocks && std::abs(ratio.mean) + 2 * ratio.error < kAlike)
    return settle(leader_);
  if (blocks_.size() == kMostBlocks) settle(errors > kProbably ? faster : leader_);
}

bool Duel::is_hopeless(int arm) const {
  return blocks_.size() >= kFewBlocks &&
         std::all_of(blocks_.begin(), blocks_.end(), [&](const auto& block) {
           const auto& [other, native] = block;
           return arm == 0 ? native > kHopeless * other : other > kHopeless * native;
         });
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
  return {estimate_median(seconds), estimate_median(ratios),
          static_cast<int>(seconds.size()) * run_};
}

std::string Duel::explain() const {
  if (!is_settled_) return listens_ ? "being timed" : "taking turns";
  char text[80];
  std::snprintf(text, sizeof text, "took %.2f us, native %.2f us",
                mean_of(blocks_, &std::pair<double, double>::first) * 1e6,
                mean_of(blocks_, &std::pair<double, double>::second) * 1e6);
  return text;
}

}  // namespace unisono
