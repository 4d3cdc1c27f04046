#include "select/online/bandit.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "select/online/logarithm.h"

namespace unisono {

namespace {

constexpr int kRaceCalls = 24;       // of an epoch, about
constexpr int kMostRaceCalls = 160;  // of all: a choice stands within 200
constexpr int kMostBlocks = 8;       // of an epoch
// In native calls, of an epoch: then what loses most is known, and dropped.
constexpr double kMostEpochLoss = 4;
constexpr int kEnoughBlocks = 48;  // arms that are still alike are alike
constexpr int kFocusBlocks = 3;    // after a change, before the others come in
constexpr int kWatchCalls = 28;    // of the leader, in an epoch
// An arm that loses more is not tried before something changes.
constexpr double kMostWatchLoss = 2;
constexpr double kUnknown = 1e3;  // logarithm of a ratio: far beyond any
// An arm of its own must gain that much, or native is taken: it needs no buffers and no plans.
constexpr double kLeastGain = 0.02;
// A call that takes more times as long as its arm is known to was held up, and is charged as this.
constexpr double kMostCharged = 4;
// A first call makes plans and connections; what it loses beyond that is the algorithm's.
constexpr double kHopelessFactor = 3, kHopelessSeconds = 2e-3;  // of native, and more than it

// For people only: std::exp is not the same on all processors.
MedianEstimate ratio(const Comparison& to_native) {
  const auto [blocks, mean, half, error] = to_native;
  if (blocks == 0) return {};
  return {std::exp(mean), std::exp(mean - half), std::exp(mean + half), 0.95};
}

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

Bandit::Bandit(int arms, std::uint64_t seed, BanditSettings settings)
    : arms_(arms),
      settings_(settings),
      state_(seed),
      evidence_(arms),
      hopeless_(at(arms)),
      lost_(at(arms)),
      times_(at(arms)) {}

// SplitMix64 (Steele, Lea, Flood 2014). The remainder's bias is far below anything measured.
std::uint64_t Bandit::random(std::uint64_t below) {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return (z ^ (z >> 31)) % below;
}

std::vector<int> Bandit::plan() {
  plan_.clear();
  block_of_.clear();
  blocks_ = 0;
  if (plan_probe())
    stage_ = Stage::probe;
  else if (stage_ == Stage::watch || !plan_race())
    plan_watch();
  calls_ += static_cast<double>(plan_.size()) + gap();
  return plan_;
}

// Arms that never ran, in a block with native: one, and then as many as can be paid for if each
// should lose what the worst has lost. False: none is left, or can be paid for.
bool Bandit::plan_probe() {
  const double most = worst_probe_ > 0 ? allowance() / worst_probe_ : std::min(1.0, allowance());
  std::vector<int> block{0};
  for (int arm = 1; arm < arms_ && static_cast<double>(block.size()) <= most; ++arm)
    if (!is_probed(arm)) block.push_back(arm);
  if (block.size() == 1) return false;
  plan_block(std::move(block));
  return true;
}

void Bandit::plan_block(std::vector<int> arms) {
  for (std::size_t i = arms.size(); i > 1; --i) std::swap(arms[i - 1], arms[random(i)]);
  plan_.insert(plan_.end(), arms.begin(), arms.end());
  block_of_.insert(block_of_.end(), arms.size(), blocks_++);
}

void Bandit::plan_leader(int calls) {
  plan_.insert(plan_.end(), at(calls), leader_);
  block_of_.insert(block_of_.end(), at(calls), -1);
}

// False: there is nobody to race whom the allowance could pay.
bool Bandit::plan_race() {
  std::vector<int> contenders;
  for (int arm = 1; arm < arms_; ++arm) {
    const bool focused =
        focus_.empty() || std::find(focus_.begin(), focus_.end(), arm) != focus_.end();
    if (focused && is_contender(arm)) contenders.push_back(arm);
  }
  std::stable_sort(contenders.begin(), contenders.end(),
                   [&](int a, int b) { return likely_loss(a) < likely_loss(b); });
  std::vector<int> racing{0};
  double loss = 0;
  for (const int arm : contenders) {
    if (loss + likely_loss(arm) > allowance()) break;
    loss += likely_loss(arm);
    racing.push_back(arm);
  }
  if (leader_ != 0 && std::find(racing.begin(), racing.end(), leader_) == racing.end())
    racing.push_back(leader_);
  const bool news = std::any_of(racing.begin(), racing.end(),
                                [&](int arm) { return arm != 0 && arm != leader_; }) ||
                    (leader_ == 0 ? racing.size() > 1 : is_contender(0));
  if (!news) return false;
  const double affordable = std::min(allowance(), kMostEpochLoss) / std::max(loss, 1e-3);
  const int blocks = std::clamp(kRaceCalls / static_cast<int>(racing.size()), 1,
                                std::clamp(static_cast<int>(affordable), 1, kMostBlocks));
  for (int block = 0; block < blocks; ++block) plan_block(racing);
  return true;
}

// Every epoch of a watch ends in a block of the leader and native; epochs 1, 2, 4, 8, 12, 16, ...
// have one other arm in it.
void Bandit::plan_watch() {
  plan_leader(kWatchCalls);
  ++watches_;
  std::vector<int> block{leader_};
  if (leader_ != 0) block.push_back(0);
  if ((watches_ & (watches_ - 1)) == 0 || watches_ % 4 == 0)
    if (const int challenger = most_promising(); challenger > 0) block.push_back(challenger);
  if (block.size() > 1) plan_block(std::move(block));
}

/// By the optimistic end of its interval, as UCB (Auer, Cesa-Bianchi, Fischer 2002); -1: none.
int Bandit::most_promising() const {
  int best = -1;
  double least = 0;
  for (int arm = 1; arm < arms_; ++arm) {
    if (arm == leader_ || !is_probed(arm) ||
        likely_loss(arm) > std::min(allowance(), kMostWatchLoss))
      continue;
    const Comparison against = evidence_.compare(arm, leader_);
    const double optimistic = against.blocks > 0 ? against.mean - against.half : -kUnknown;
    if (best < 0 || optimistic < least) {
      least = optimistic;
      best = arm;
    }
  }
  return best;
}

void Bandit::learn(std::span<const Nanoseconds> shared, int ranks) {
  std::vector<double> seconds;
  for (const Nanoseconds sum : shared)
    seconds.push_back(seconds_of(std::max<Nanoseconds>(sum, 1), ranks));
  charge(seconds);
  if (stage_ == Stage::probe) {
    judge_probe(seconds);
    stage_ = Stage::race;
    return;
  }
  int last_block = -1;
  bool changed = false;
  for (std::size_t call = 0; call < plan_.size(); ++call) {
    if (block_of_[call] < 0) {
      changed = changed || drift_.add(same_log(seconds[call]));
      continue;
    }
    if (block_of_[call] != last_block) evidence_.begin_block();
    last_block = block_of_[call];
    evidence_.add(plan_[call], seconds[call]);
  }
  changed = changed || gain_changed(seconds);
  for (int arm = 0; arm < arms_; ++arm)
    if (const auto recent = evidence_.recent(arm); !recent.empty())
      times_[at(arm)] = {estimate_median(recent), ratio(evidence_.compare(arm, 0)),
                         static_cast<int>(recent.size())};
  if (changed)
    reopen();
  else
    judge();
}

/// The time of the arm in the block; 0: it is not in it.
double Bandit::in_block(int block, int arm, const std::vector<double>& seconds) const {
  for (std::size_t call = 0; call < plan_.size(); ++call)
    if (block_of_[call] == block && plan_[call] == arm) return seconds[call];
  return 0;
}

// The leader's time may be what it was while native's no longer is.
bool Bandit::gain_changed(const std::vector<double>& seconds) {
  bool changed = false;
  for (int block = 0; block < blocks_; ++block) {
    const double native = in_block(block, 0, seconds), own = in_block(block, leader_, seconds);
    if (leader_ != 0 && native > 0 && own > 0)
      changed = gain_drift_.add(same_log(own) - same_log(native)) || changed;
  }
  return changed;
}

// Against native's time in the same epoch, so that a change of the machine is no loss.
void Bandit::charge(const std::vector<double>& seconds) {
  std::vector<double> of_native;
  for (int block = 0; block < blocks_; ++block)
    if (const double native = in_block(block, 0, seconds); native > 0) of_native.push_back(native);
  if (of_native.empty()) return;
  const double native = median(of_native);
  for (std::size_t call = 0; call < plan_.size(); ++call) {
    const int arm = plan_[call];
    if (block_of_[call] < 0 || arm == 0) continue;
    const double most = kMostCharged * std::max(native, this->seconds(arm));
    lost_[at(arm)] += (is_probed(arm) ? std::min(seconds[call], most) : seconds[call]) / native - 1;
  }
}

void Bandit::judge_probe(const std::vector<double>& seconds) {
  const auto native = std::find(plan_.begin(), plan_.end(), 0);
  const double native_seconds = seconds[static_cast<std::size_t>(native - plan_.begin())];
  for (std::size_t call = 0; call < plan_.size(); ++call) {
    const int arm = plan_[call];
    if (is_probed(arm)) continue;  // native, later
    const double lost = seconds[call] - native_seconds;
    times_[at(arm)] = {estimate_median(std::span(&seconds[call], 1)), {}, 1};
    hopeless_[at(arm)] = lost > kHopelessFactor * native_seconds && lost > kHopelessSeconds;
    worst_probe_ = std::max({worst_probe_, 1.0, lost / native_seconds});
  }
}

bool Bandit::is_contender(int arm) const {
  if (arm == leader_) return true;
  if (!is_probed(arm) || hopeless_[at(arm)]) return false;
  const Comparison against = evidence_.compare(arm, leader_);
  return against.blocks < kEnoughBlocks && !against.likely_slower();
}

void Bandit::judge() {
  int best = 0;
  double least = -kLeastGain;
  for (int arm = 1; arm < arms_; ++arm) {
    const Comparison gain = evidence_.compare(arm, 0);
    if (!hopeless_[at(arm)] && gain.probably_faster() && gain.mean < least) {
      least = gain.mean;
      best = arm;
    }
  }
  // In a watch the leader stays until another is surely better, or it no longer gains anything.
  const bool useless = leader_ != 0 && evidence_.compare(leader_, 0).mean > 0;
  if (stage_ == Stage::race || useless || evidence_.compare(best, leader_).surely_faster())
    lead(best);
  if (stage_ != Stage::race) return;
  if (evidence_.count(leader_) >= kFocusBlocks) focus_.clear();
  raced_ += static_cast<int>(plan_.size());
  bool open = false;
  for (int arm = 0; arm < arms_; ++arm) open = open || (arm != leader_ && is_contender(arm));
  open = !focus_.empty() || (open && raced_ < kMostRaceCalls);
  if (!open) {
    stage_ = Stage::watch;
    watches_ = 0;
  }
}

void Bandit::lead(int arm) {
  if (arm == leader_) return;
  drift_.clear();
  gain_drift_.clear();
  leader_ = arm;
}

int Bandit::second_best() const {
  int second = leader_ == 0 ? 1 : 0;
  for (int arm = 0; arm < arms_; ++arm)
    if (arm != leader_ && seconds(arm) > 0 && seconds(arm) < seconds(second)) second = arm;
  return second;
}

void Bandit::reopen() {
  focus_ = {leader_, second_best()};
  ++reopened_;
  evidence_.clear();
  drift_.clear();
  gain_drift_.clear();
  raced_ = 0;
  stage_ = Stage::race;
  // What was hopeless may be so no longer.
  hopeless_.assign(hopeless_.size(), false);
}

double Bandit::likely_loss(int arm) const {
  if (seconds(0) <= 0 || seconds(arm) <= 0) return 1;
  return std::max(0.0, seconds(arm) / seconds(0) - 1);
}

double Bandit::allowance() const { return settings_.regret + settings_.budget * calls_ - lost(); }

// An arm that has lost in some calls and won in more of them has lost nothing.
double Bandit::lost() const {
  const double chose = seconds(0) > 0 ? chose_ / seconds(0) : 0;
  return std::accumulate(lost_.begin(), lost_.end(), chose,
                         [](double sum, double lost) { return sum + std::max(0.0, lost); });
}

}  // namespace unisono
