// Selection between two ways, the MPI library's and one other, for calls that may take less than a
// microsecond: what is thought to be better runs until it is worth asking; then runs of calls take
// turns until it is sure which way is faster, and nothing is measured any more. Where that does not
// become sure, what was thought to be better stays.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "select/online/policy.h"

namespace unisono {

class Duel final : public Policy {
 public:
  static constexpr int kMostBlocks = 24;  ///< each a run of both ways

  /// `prior`: what is thought to be better. `first`: calls before the ranks tell each other
  /// anything. `shares_cores`: what ranks that take turns on a core do shows in milliseconds only.
  /// `patience`: so many times longer it is not worth asking.
  Duel(int prior, int first, bool shares_cores, double patience = 1);

  std::vector<int> plan() override;
  int gap() const override { return 0; }
  int leader() const override { return leader_; }
  Combine combine() const override { return Combine::max; }
  /// The time in calls until each run was over; and all time, with what the program does between
  /// them.
  std::vector<Nanoseconds> summary(std::span<const Nanoseconds> own,
                                   std::span<const Nanoseconds> ends) const override;
  void learn(std::span<const Nanoseconds> shared, int ranks) override;
  double lost() const override { return lost_; }
  int reopened() const override { return 0; }
  ArmTimes times(int arm) const override;

  /// Native calls before the next planned one, which need not come here: it is not worth asking
  /// yet.
  int idle() const { return idle_; }
  /// All further calls get the leader; it has no plan for them.
  bool is_settled() const { return is_settled_; }
  /// One way takes so many times as long as the other that a few calls have shown it.
  bool is_hopeless(int arm) const;
  /// Of what the last call was decided by.
  std::string explain() const;

 private:
  /// Seconds of a call: the other way, native.
  using Block = std::pair<double, double>;

  void heard(double seconds);
  void compared(const Block& in_calls, const Block& all);
  void decide();
  void settle(int winner);

  bool listens_ = true;
  int idle_ = 0;
  int run_;               // calls of one way in a row
  bool turned_ = false;   // native goes second
  bool is_warm_ = false;  // the other way has had its first run
  bool is_settled_ = false;
  int leader_;
  double run_seconds_, worth_asking_;
  double spent_ = 0;  // seconds, until it was worth asking
  double lost_ = 0;
  std::vector<Block> blocks_, all_;  // in the calls; and from call to call
};

}  // namespace unisono
