// Between hosts a safe arm (select/safe_arms.h) stands first, and learning only checks it: in
// programs that are long enough the MPI library's own algorithm is timed beside it, on so few calls
// that this may lose a hundredth of the time so far, and leads only when it is surely faster. The
// other way round where the MPI library's own stands first.
#pragma once
#include <limits>
#include <optional>
#include <string>

#include "select/online/policy.h"
#include "select/online/verdict.h"
#include "select/online/wager.h"

namespace unisono {

struct CheckSettings {
  int before = 64;      ///< calls that nobody looks at: shorter programs do without
  double share = 0.01;  ///< of the time in calls so far: what checking may have lost
  double guess = 8;     ///< times as long as the leader's a challenger's call may take, unseen
  double clip = 0.7;    ///< logarithm of a ratio: no single pair of runs says more than "twice"
  double sure = 100;    ///< times the first wealth: wrong in one case of as many at most
  int most_pairs = 64;  ///< where these do not make it sure, the leader stays
};

/// Two ways, native is 0. What leads is compared with the other one in pairs of runs, each timed
/// from its first call's begin to its last one's end on the slowest rank, with what the program
/// does in between. Bets on the pairs (wager.h) say who is faster.
class Check final : public Policy {
 public:
  /// `leader`: what stands first. `known`: what an earlier job was sure of; then its winner does.
  explicit Check(int leader = 1, const std::optional<Verdict>& known = {},
                 CheckSettings settings = {});

  std::vector<int> plan() override;
  int gap() const override { return 0; }
  int leader() const override { return leader_; }
  int idle() const override { return idle_; }
  std::vector<Nanoseconds> summary(std::span<const Nanoseconds> own,
                                   std::span<const Nanoseconds> ends) const override;
  void learn(std::span<const Nanoseconds> shared) override;
  double lost_seconds() const override { return lost_; }
  double lost() const override { return seconds_[0] > 0 ? lost_ / seconds_[0] : 0; }
  int reopened() const override { return 0; }
  ArmTimes times(int arm) const override;
  bool is_settled() const override { return is_settled_; }
  std::optional<Verdict> found() const override;
  std::string explain() const override;

 private:
  static constexpr int kRun = 2;  ///< calls of one way in a row: the first makes connections

  int challenger() const { return 1 - leader_; }
  void compared(double leader, double challenger);
  /// Seconds that the next pair may lose.
  double at_stake() const;
  /// The next pair when the job can bear it.
  void go_on();

  CheckSettings settings_;
  int leader_, idle_;
  bool compares_ = false;  ///< the next epoch is a pair
  bool is_turned_ = false, is_warm_ = false, is_settled_ = false, is_sure_ = false;
  int pairs_ = 0;
  double spent_ = 0, lost_ = 0, worst_ = 0;  ///< seconds
  /// Seconds of a call of the leader in its fastest run: those that nobody timed count as that.
  double least_ = std::numeric_limits<double>::infinity();
  double seconds_[2] = {0, 0};  ///< of a call of either way, as last timed
  Wager wager_;
};

}  // namespace unisono
