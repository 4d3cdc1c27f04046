// Selection by the cost model, with the MPI library's own algorithm as the judge. The first calls
// of a kind are native and timed. When they have taken so long that it is worth asking, the model
// names the most promising arms; one runs if its predicted time is below 0.9 of native's measured
// one, and leads if its own calls say so. Where nothing is promising everything stays native.
//
// Times of an epoch are those by which all ranks had made so many of its calls: the ranks begin an
// epoch together, so a rank that leaves a call early gains nothing by it.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "select/online/policy.h"

namespace unisono {

/// What trying arms may lose: `regret` + `budget` * calls, in native calls.
struct ModelSettings {
  double budget = 0.02;
  double regret = 8;
  bool is_auto = false;  ///< on several nodes, and where messages are slow
};

/// An arm that the model has named.
struct Promise {
  double seconds = 0;  ///< predicted
  int family = 0;      ///< equal for one algorithm with other parameters
  double risk = 0;     ///< seconds that it may lose on top where the ranks drift apart

  double all() const { return seconds + risk; }
};

/// What an earlier job has found out about such a kind.
struct Recollection {
  bool is_native = false;  ///< nothing was better
  double seconds = 0;      ///< of the best
  double native = 0;
  Promise promise;  ///< of the best, where it is not native
};

struct Answer {
  std::vector<Promise> arms;  ///< that follow those named before, or recalled
  bool is_complete = true;    ///< or something has no price yet: it may be asked for again
};

/// `spent`: seconds that the kind's calls have taken, each of them `call`. The same on all ranks.
using AskModel = std::function<Answer(double spent, double call)>;

class ModelFirst final : public Policy {
 public:
  /// `first`: native calls before anything is asked; at least 2. `least`: seconds that every arm
  /// but native takes; where native takes less than could be promising nothing is asked.
  ModelFirst(ModelSettings settings, int first, AskModel ask, double least = 0);

  /// Leaves so many native calls alone before the first one is timed. Before the first plan().
  void begin_after(int calls) { idle_ = calls; }
  /// Begins with what was best then: arm 1, or native. It is watched, and where its times are no
  /// longer what they were all begins anew, as if nothing had been recalled. Before the first
  /// plan().
  void recall(const Recollection& recollection);
  /// Whether what was recalled still takes about what it took; nothing: that is not known yet.
  std::optional<bool> recalled_right() const { return recalled_right_; }
  /// Whether what leads was recalled, and nothing else was tried.
  bool is_recalled() const { return recalled_.seconds > 0; }

  std::vector<int> plan() override;
  int gap() const override { return gap_; }
  int idle() const override { return idle_; }
  int leader() const override { return leader_; }
  Combine combine() const override { return Combine::max; }
  std::vector<Nanoseconds> summary(std::span<const Nanoseconds> own,
                                   std::span<const Nanoseconds> ends) const override;
  void learn(std::span<const Nanoseconds> shared, int ranks) override;
  /// Counted: only what asking and preparing arms has taken, not what the ranks waited for.
  void spend(Nanoseconds shared, int /*ranks*/) override {
    const double seconds = static_cast<double>(shared) * 1e-9;
    choosing_ += seconds;
    lost_seconds_ += seconds;
  }
  /// By native's time as it is known now: of its first calls one may be over at once on all ranks.
  double lost() const override { return lost_ + (native_ > 0 ? choosing_ / native_ : 0); }
  void hear_of_job(const JobAccount& account) override { job_.hear(account, lost_seconds()); }
  double lost_seconds() const override { return lost_seconds_ + at_stake_; }
  int reopened() const override { return reopened_; }
  ArmTimes times(int arm) const override;

  /// Seconds that the model said, corrected; 0: of native, or nothing.
  double predicted(int arm) const;
  double native_seconds() const override { return native_; }
  double won_seconds() const override { return won_seconds_; }
  /// Why the next call has this arm: what is predicted and measured.
  std::string explain(int arm) const;

 private:
  enum class Stage { listen, trial, race, watch };
  struct Arm {
    Promise promise;
    // Means of its calls but the first, and of how many: the last two that were taken together.
    std::vector<double> seconds;
    std::vector<int> calls;  // missing: one each
    bool tried = false, out = false;
    bool is_corrected = false;  // by its own family

    void is_known(double mean, int of) { seconds = {mean}, calls = {of}; }
  };

  void heard(std::span<const double> seconds);
  void hear(std::span<const double> seconds);
  /// Leaves native alone until its calls have taken so many seconds more; then it is timed again.
  void idle_for(double seconds);
  bool is_worth_asking() const;
  void ask();
  bool is_in_doubt(int next) const;
  void tried(std::span<const double> seconds);
  void raced(std::span<const double> seconds);
  void watched(double mean);
  /// What comes after an epoch: the next trial, or the leader alone.
  void go_on();
  /// False: what was recalled does not hold, and the kind begins anew.
  bool holds_still(double mean);
  void begin_anew();
  void lead(int arm);
  void drop(int arm);
  void race(int challenger, int against);
  void charge(int arm, double seconds, int calls);
  /// Whether one call of a trial was held up, and another one is to say which was as usual.
  bool is_in_doubt_after(std::span<const double> trial) const;
  /// Whether each call of a trial is still faster than those before, on its way to what is
  /// promised.
  bool is_warming_up() const;
  void correct(int arm, double seconds);
  /// How far the model is off: measured over predicted, of all arms.
  double bias() const;
  int most_promising() const;
  int timed() const;
  int first_watched() const;
  int most_watched() const;
  /// Of those that have run; what was hopeless is none.
  int best_known() const;
  bool may_lose(double native_calls) const;
  bool is_short() const { return native_ < kShort; }
  /// What a call takes on the average, as far as is known. A time that was held up counts with
  /// eight that were not: one says little, several say what they cost.
  double known(int arm) const;
  /// The least of the times that known() is an average of.
  double at_best(int arm) const;
  double usual(std::span<const double> times) const;
  /// The leader's place for an arm that has taken so long, at once or after a race; whether it is
  /// to be raced for.
  bool follows(int arm, double seconds);

  static constexpr double kShort = 5e-3;  // seconds; longer calls need no gap, nor many of them

  ModelSettings settings_;
  AskModel ask_;
  Stage stage_ = Stage::listen;
  std::vector<Arm> arms_;  // native is 0
  std::vector<int> planned_;
  int leader_ = 0;
  int on_trial_ = 0, against_ = 0;
  int run_ = 1;  // calls in a row of a race
  const int first_calls_;
  int listen_;     // native calls of the next epoch
  int watch_ = 4;  // the leader's
  bool probed_ = false;
  int gap_ = 0, idle_ = 0;
  double quiet_;  // seconds that native is left alone next
  const double least_;
  double chain_ = 0;  // seconds of a message from each rank to the next
  bool asked_ = false, is_complete_ = true;
  double taken_ = 0, asked_at_ = 0;  // seconds of all planned calls, now and then
  double native_ = 0, spent_ = 0;
  double first_ = 0;  // native call, where the second took much more or less; 0: it did not
  double lost_ = 0, worst_ = 0;
  double choosing_ = 0, lost_seconds_ = 0, won_seconds_ = 0, at_stake_ = 0;  // seconds
  JobBudget job_;
  long calls_ = 0;
  int reopened_ = 0;
  std::vector<double> trial_;  // its times so far
  double ratios_ = 0;          // measured over predicted, the sum of so many arms
  int measured_ = 0;
  Recollection recalled_;  // without seconds: nothing, or no longer
  std::optional<bool> recalled_right_;
  bool was_slow_ = false;                          // in its first epoch
  std::vector<std::pair<double, double>> blocks_;  // seconds of the one on trial and of the other
};

}  // namespace unisono
