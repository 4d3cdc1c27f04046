// Selection between two ways, the MPI library's and one other, for calls that may take less than a
// microsecond: what is thought to be better runs until it is worth asking; then runs of calls take
// turns until it is sure which way is faster, and nothing is measured any more. Where that does not
// become sure, what was thought to be better stays. What has won elsewhere leads from the first
// call; whether it takes about what it took there is all that is asked then.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "select/online/policy.h"
#include "select/online/verdict.h"

namespace unisono {

class Duel final : public Policy {
 public:
  static constexpr int kMostBlocks = 24;  ///< each a run of both ways

  /// `prior`: what is thought to be better. `first`: calls before the ranks tell each other
  /// anything. `shares_cores`: what ranks that take turns on a core do shows in milliseconds only.
  /// `patience`: so many times longer it is not worth asking.
  Duel(int prior, int first, bool shares_cores, double patience = 1);

  /// What earlier jobs have come to, in programs of one kind or two; the first one's winner leads.
  /// Before the first plan().
  void recall(std::vector<Verdict> remembered);
  /// What all ranks have come to on another communicator of this job; with the next summaries.
  void offer(const Verdict& verdict) { offered_ = verdict; }

  std::vector<int> plan() override;
  int gap() const override { return 0; }
  int leader() const override { return leader_; }
  /// The time in calls until each run was over; and all time, with what the program does between
  /// them. Of one run, or of one of either way.
  std::vector<Nanoseconds> summary(std::span<const Nanoseconds> own,
                                   std::span<const Nanoseconds> ends) const override;
  void learn(std::span<const Nanoseconds> shared, int ranks) override;
  void hear_of_job(const JobAccount& account) override { job_.hear(account, lost_seconds()); }
  double lost_seconds() const override { return lost_seconds_ + at_stake_; }
  double lost() const override { return lost_; }
  int reopened() const override { return is_reopened_ ? 1 : 0; }
  ArmTimes times(int arm) const override;

  /// Calls of the leader before the next planned one, which need not come here: it is not worth
  /// asking yet.
  int idle() const override { return idle_; }
  bool is_settled() const override { return stage_ == Stage::settled; }
  std::optional<Verdict> found() const override;
  /// The same wherever it came from.
  std::optional<Verdict> verdict() const { return adopted_ ? adopted_ : found(); }
  /// One way takes so many times as long as the other that a few calls have shown it.
  bool is_hopeless(int arm) const;
  std::string explain() const override;

 private:
  enum class Stage : std::uint8_t { check, listen, turns, settled };
  /// Seconds of a call: the other way, native.
  using Block = std::pair<double, double>;

  void checked();
  void heard();
  void compared(const Block& in_calls, const Block& all);
  void decide();
  /// Whether nothing but all time, from call to call, says which way is faster.
  bool counts_all() const;
  void settle(int winner);
  /// Nothing more is asked: it was found out elsewhere.
  void adopt(const Verdict& verdict, const char* origin);
  void begin_anew();
  /// Whether the job can bear what another block may lose against native.
  bool may_try() const;
  /// Until a run has come together, at so many seconds a call.
  int run_of(double seconds) const;

  Stage stage_ = Stage::listen;
  int idle_ = 0;
  const int first_;
  int run_;               // calls of one way in a row
  bool turned_ = false;   // native goes second
  bool is_warm_ = false;  // the other way, or what was recalled, has had its first run
  const int prior_;
  int leader_;
  const bool shares_cores_;
  double run_seconds_, worth_asking_;
  double spent_ = 0;  // seconds, until it was worth asking
  double lost_ = 0, lost_seconds_ = 0, at_stake_ = 0;
  JobBudget job_;
  std::vector<Block> blocks_, all_;  // in the calls; and from call to call
  WayTimes last_;                    // of the leader alone
  std::vector<Verdict> remembered_;
  std::optional<Verdict> offered_, adopted_;
  const char* origin_ = "";  // of what was adopted
  bool was_doubted_ = false, is_reopened_ = false;
};

}  // namespace unisono
