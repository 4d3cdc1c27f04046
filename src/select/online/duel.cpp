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
constexpr std::size_t kFewBlocks = 2, kLeastBlocks = 4, kManyBlocks = 8;

double mean_of(const std::vector<std::pair<double, double>>& blocks,
               double std::pair<double, double>::*way) {
  double sum = 0;
  for (const auto& block : blocks) sum += block.*way;
  return sum / static_cast<double>(blocks.size());
}

/// What blocks say of the quotient of the ways' times.
struct Finding {
  int faster = 0;     // way
  double errors = 0;  // the logarithm is so many standard errors from 0
  bool is_alike = false;
};

Finding finding(std::span<const std::pair<double, double>> blocks) {
  const LogRatio ratio = log_ratio(blocks);
  const double far = std::abs(ratio.mean);
  return {ratio.mean < 0 ? 1 : 0, far / ratio.error, far + 2 * ratio.error < kAlike};
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

std::vector<Nanoseconds> Duel::summary(std::span<const Nanoseconds> own,
                                       std::span<const Nanoseconds> ends) const {
  const auto half = own.begin() + run_;
  const Nanoseconds first = std::accumulate(own.begin(), half, Nanoseconds{0});
  if (listens_) return {first};
  return {first, std::accumulate(half, own.end(), first), ends[static_cast<std::size_t>(run_) - 1],
          ends.back()};
}

void Duel::learn(std::span<const Nanoseconds> shared, int /*ranks*/) {
  const auto seconds = [&](Nanoseconds time) {
    return static_cast<double>(std::max<Nanoseconds>(time, 1)) / (run_ * 1e9);
  };
  if (listens_) return heard(seconds(shared[0]));
  const auto block = [&](Nanoseconds first, Nanoseconds both) {
    return turned_ ? Block{seconds(first), seconds(both - first)}
                   : Block{seconds(both - first), seconds(first)};
  };
  compared(block(shared[0], shared[1]), block(shared[2], shared[3]));
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

void Duel::compared(const Block& in_calls, const Block& all) {
  const auto& [other, native] = in_calls;
  turned_ = !turned_;
  lost_ += std::max(0.0, other / native - 1) * run_;
  run_ =
      std::clamp(static_cast<int>(run_seconds_ / std::max(other, native)), kFirstRun, kLongestRun);
  // The first runs make connections, and memory.
  if (!std::exchange(is_warm_, true)) return;
  blocks_.push_back(in_calls);
  all_.push_back(all);
  decide();
}

// The time in calls contains what ranks wait for others that compute. Where these share cores, a
// way in which they wait longer may make the program faster: what the whole takes decides, if it is
// clear enough. 4 ranks of Open MPI on 2 cores that compute for up to 0.1 ms between Bcasts of 8 B
// spend 31 us in one of the kernels' and 47 in a native one, and from call to call 139 and 131.
void Duel::decide() {
  if (is_hopeless(0)) return settle(1);
  if (is_hopeless(1)) return settle(0);
  const std::size_t blocks = blocks_.size();
  const Finding in_calls = finding(blocks_), all = finding(all_);
  const bool agree = in_calls.faster == all.faster || all.errors < 1;
  if (blocks < kLeastBlocks) return;
  if (all.errors > kSurely) return settle(all.faster);
  if (blocks >= kManyBlocks && in_calls.errors > kSurely && agree) return settle(in_calls.faster);
  if (all.is_alike && in_calls.is_alike) return settle(leader_);
  if (blocks < kMostBlocks) return;
  if (all.errors > kProbably) return settle(all.faster);
  settle(in_calls.errors > kProbably && agree ? in_calls.faster : leader_);
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
  char text[120];
  std::snprintf(text, sizeof text,
                "took %.2f us, native %.2f us; from call to call %.2f us, native %.2f us",
                mean_of(blocks_, &Block::first) * 1e6, mean_of(blocks_, &Block::second) * 1e6,
                mean_of(all_, &Block::first) * 1e6, mean_of(all_, &Block::second) * 1e6);
  return text;
}

}  // namespace unisono
