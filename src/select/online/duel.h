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
#include "select/online/wager.h"

namespace unisono {

/// Of what a comparison asks, when, and when it is over.
struct DuelSettings {
  /// Seconds of a run in calls: long enough for the clock, for what the call before it left behind,
  /// and for one that is interrupted not to be all of it.
  double run = 200e-6;
  /// The same where ranks share cores, for several turns of all of them: 4 ranks of Open MPI on 2
  /// cores make an alltoall of 8 B in 4 us for 0.3 ms, and in 36 us on and on.
  double run_of_turns = 1.5e-3;
  /// Runs; before it has taken so long a kind is not worth asking: where the other way is hopeless,
  /// asking costs a tenth of that.
  double worth_asking = 10;
  /// Of the time from call to call, where each rank has a core and native leads: calls of a kind
  /// that take less of it, waiting for others included, are not worth asking. To watch one takes 10
  /// us where the caches have forgotten how, more than could be won.
  double share = 0.05;
  double hopeless = 4;  ///< times as slow in each of the first blocks: nothing more is asked
  /// Seconds; to watch a call takes some 0.1 us, so that finding out costs shorter ones more than
  /// it can win.
  double brief = 1e-6;
  double clip = 0.4;  ///< logarithm of a ratio: no block says more than "half as long again"
  double sure = 20;   ///< times the first wealth: wrong in one case of as many at most
  /// The same at the end; and where the total times say that much against it, the time in calls
  /// does not decide.
  double likely = 4;
};

/// So many times as long it is not worth asking where this way leads at first; `hopeless`: kinds of
/// calls of the communicator in which native took several times as long as the kernels.
double patience(int prior, bool shares_cores, int hopeless);

class Duel final : public Policy {
 public:
  static constexpr int kMostBlocks = 24;  ///< each a run of both ways

  /// `prior`: what is thought to be better. `first`: calls before the ranks tell each other
  /// anything. `shares_cores`: what ranks that take turns on a core do shows in milliseconds only.
  /// `patience`: so many times longer it is not worth asking.
  Duel(int prior, int first, bool shares_cores, double patience = 1, DuelSettings settings = {});

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
  void learn(std::span<const Nanoseconds> shared) override;
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
  /// Whether the program does so much else that no way could win much.
  bool is_rare(const WayTimes& times) const;
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

  const DuelSettings settings_;
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
  double lost_ = 0, lost_seconds_ = 0, at_stake_ = 0, worst_ = 0;
  JobBudget job_;
  std::vector<Block> blocks_, all_;  // in the calls; and from call to call
  Wager by_calls_, by_all_;
  WayTimes last_;  // of the leader alone
  std::vector<Verdict> remembered_;
  std::optional<Verdict> offered_, adopted_;
  const char* origin_ = "";  // of what was adopted
  bool was_doubted_ = false, is_reopened_ = false;
};

}  // namespace unisono
