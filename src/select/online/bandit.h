// Selection as a bandit: all arms in seeded, randomly interleaved blocks until confidence intervals
// leave one; then that one, with exploration that becomes rarer; and all again, the two best first,
// when its times are no longer what they were. What exploring loses against native has a limit.
#pragma once
#include "select/online/drift.h"
#include "select/online/evidence.h"
#include "select/online/policy.h"

namespace unisono {

/// Exploring may lose `regret` + `budget` * calls, in native calls. One call of an arm cannot be
/// stopped, and nothing is known before its first: that is expected to lose what the worst first
/// call of any arm has lost.
struct BanditSettings {
  double budget = 0.05;
  double regret = 20;
};

class Bandit final : public Policy {
 public:
  Bandit(int arms, std::uint64_t seed, BanditSettings settings);

  std::vector<int> plan() override;
  int gap() const override { return 4; }
  int leader() const override { return leader_; }
  Combine combine() const override { return Combine::sum; }
  void learn(std::span<const Nanoseconds> shared, int ranks) override;
  void spend(Nanoseconds shared, int ranks) override { chose_ += seconds_of(shared, ranks); }
  double lost() const override;
  int reopened() const override { return reopened_; }
  ArmTimes times(int arm) const override { return times_[static_cast<std::size_t>(arm)]; }

 private:
  enum class Stage { probe, race, watch };

  bool plan_probe();
  bool plan_race();
  void plan_watch();
  void plan_block(std::vector<int> arms);
  void plan_leader(int calls);

  void judge_probe(const std::vector<double>& seconds);
  static double seconds_of(Nanoseconds sum, int ranks) {
    return static_cast<double>(sum) * 1e-9 / ranks;
  }
  double in_block(int block, int arm, const std::vector<double>& seconds) const;
  bool gain_changed(const std::vector<double>& seconds);
  void charge(const std::vector<double>& seconds);
  void judge();
  void reopen();
  void lead(int arm);

  bool is_probed(int arm) const { return times(arm).calls > 0; }
  bool is_contender(int arm) const;
  int second_best() const;
  int most_promising() const;
  /// What one call is likely to lose against native, in native calls; nothing known: 1.
  double likely_loss(int arm) const;
  double allowance() const;
  double seconds(int arm) const { return times_[static_cast<std::size_t>(arm)].seconds.median; }
  std::uint64_t random(std::uint64_t below);

  int arms_;
  BanditSettings settings_;
  std::uint64_t state_;  // of the random numbers
  Stage stage_ = Stage::race;
  int leader_ = 0;
  Evidence evidence_;
  Drift drift_;  // of the leader's times
  // Of their ratio to native's; a watch has one in an epoch, so few are to suffice.
  Drift gain_drift_{DriftSettings{.learned = 8, .alarm = 6, .least_alarm = 1}};
  std::vector<bool> hopeless_;  // by its first call alone
  double worst_probe_ = 0;      // what a first call lost at most; 0: there was none
  std::vector<int> focus_;      // after a change: who races first
  int raced_ = 0;               // calls of the race
  int watches_ = 0;             // epochs since it ended

  // The planned epoch: its calls, and the block each belongs to, or -1.
  std::vector<int> plan_, block_of_;
  int blocks_ = 0;

  std::vector<double> lost_;     // by arm, signed, in native calls
  double chose_ = 0;             // seconds
  std::vector<ArmTimes> times_;  // last known
  double calls_ = 0;             // planned
  int reopened_ = 0;
};

}  // namespace unisono
