#include "select/online/model_first.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "select/online/logarithm.h"
#include "select/online/paired_ratio.h"

namespace unisono {

namespace {

// Before it has taken so long a kind is not worth asking the model about.
constexpr double kWorthAsking = 20e-3;
constexpr double kAskedAgain = 4;   // times as long: so a share of the time goes into prices
constexpr double kPromising = 0.9;  // of native's time
constexpr double kSurely = 0.5;     // so far below two native calls suffice
// An arm that is so much slower than native in its first call is not called again.
constexpr double kHopeless = 4;
constexpr int kMostListened = 1024;
constexpr int kLongTrial = 2, kShortTrial = 10;  // calls
constexpr std::size_t kMostWarming = 6;
constexpr double kWarmer = 0.95;
constexpr std::size_t kLongBlocks = 6, kShortBlocks = 24;
constexpr int kMostWatched = 256;
// Seconds of an epoch of short calls: to share its times takes half a millisecond on a slow
// network, and at the end of an epoch the ranks wait for each other, where a root and others run
// ahead.
constexpr double kTimed = 2e-3;
// Seconds that native is left alone where nothing is promising; each time twice as many.
constexpr double kQuiet = 0.1, kMostQuiet = 1.6;
constexpr double kMostIdle = 16;  // times as long as what was timed, which made connections as well
// Seconds: short calls race in runs, in which ranks run ahead. Open MPI's Scan, a chain of all
// ranks, goes on from call to call: what its first call takes, a message a rank, is to be little.
constexpr double kMostIdleCalls = 64;  // times as many: ranks that ran ahead seem to take no time
constexpr double kRun = 1e-3, kRunOfChain = 4;
constexpr int kLongestRun = 256;
constexpr int kFirstWatched = 4, kFirstRecalled = 2;
constexpr double kAsRecalled = 2;  // a factor: on another day, in another program
constexpr int kShortGap = 2;
constexpr double kPriorCalls = 8;
// One time says no more of other arms than that the model is so far off.
constexpr double kMostCorrected = 3;
constexpr double kPriorArms = 3;
constexpr std::size_t kMostShared = 16;  // times of an epoch

/// Either may have been held up.
bool is_uneven(double one, double other) {
  return std::max(one, other) > kHopeless * std::min(one, other);
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Of values that come in runs of so many the last of each.
std::vector<Nanoseconds> every(int run, std::span<const Nanoseconds> values) {
  std::vector<Nanoseconds> lasts;
  const auto step = static_cast<std::size_t>(run);
  for (std::size_t end = step; end <= values.size(); end += step) lasts.push_back(values[end - 1]);
  return lasts;
}

double least(std::span<const double> values) {
  return *std::min_element(values.begin(), values.end());
}

}  // namespace

ModelFirst::ModelFirst(ModelSettings settings, int first, AskModel ask, double least)
    : settings_(settings),
      ask_(std::move(ask)),
      arms_(1),
      first_calls_(std::max(first, 2)),
      listen_(first_calls_),
      quiet_(kQuiet),
      least_(least) {}

void ModelFirst::recall(const Recollection& recollection) {
  recalled_ = recollection;
  native_ = recollection.native;
  arms_[0].seconds = {native_};
  stage_ = Stage::watch;
  watch_ = is_short() ? timed() : kFirstRecalled;
  if (recollection.is_native) return;
  arms_.push_back(
      {.promise = recollection.promise, .seconds = {recollection.seconds}, .tried = true});
  leader_ = 1;
}

std::vector<int> ModelFirst::plan() {
  planned_.clear();
  switch (stage_) {
    case Stage::listen: planned_.assign(static_cast<std::size_t>(listen_), 0); break;
    case Stage::trial: planned_.assign(is_short() ? (probed_ ? 8 : 2) : 1, on_trial_); break;
    case Stage::race:
      // Both orders in turn: what the call before leaves behind is then in both arms' times alike.
      for (std::size_t block = 0; block < (is_short() ? kMostShared / 2 : 2); ++block)
        for (const bool first : {true, false})
          planned_.insert(planned_.end(), static_cast<std::size_t>(run_),
                          first == (block % 2 == 0) ? against_ : on_trial_);
      break;
    case Stage::watch: planned_.assign(static_cast<std::size_t>(watch_), leader_); break;
  }
  return planned_;
}

// When so many calls were over. Of long epochs the end is enough, and of many short calls the
// middle.
std::vector<Nanoseconds> ModelFirst::summary(std::span<const Nanoseconds> own,
                                             std::span<const Nanoseconds> /*ends*/) const {
  std::vector<Nanoseconds> ends(own.size());
  std::partial_sum(own.begin(), own.end(), ends.begin());
  if (stage_ == Stage::race) return every(run_, ends);
  if (stage_ == Stage::watch) return {ends.back()};
  if (planned_.size() > kMostShared) return {ends[ends.size() / 2 - 1], ends.back()};
  return ends;
}

void ModelFirst::learn(std::span<const Nanoseconds> shared, int ranks) {
  chain_ = ranks * least_;
  const int idle = std::exchange(idle_, 0);
  calls_ += static_cast<long>(planned_.size()) + gap_ + idle;
  taken_ += idle * native_;
  std::vector<double> seconds;
  Nanoseconds before = 0;
  for (const Nanoseconds end : shared) {
    seconds.push_back(static_cast<double>(std::max<Nanoseconds>(end - before, 1)) * 1e-9);
    before = end;
  }
  // Connections that the first of many short calls make take longer than all these calls: with 16
  // ranks 46 ms, where a Scan takes 30 to 60 us. They are taken to be like the second half.
  if (const std::size_t all = planned_.size();
      stage_ == Stage::listen && spent_ == 0 && all > kMostShared)
    seconds = {seconds[1] * static_cast<double>(all) / static_cast<double>(all - all / 2)};
  taken_ += std::accumulate(seconds.begin(), seconds.end(), 0.0);
  switch (stage_) {
    case Stage::listen: heard(seconds); break;
    case Stage::trial: tried(seconds); break;
    case Stage::race: raced(seconds); break;
    case Stage::watch: watched(seconds.back() / static_cast<double>(planned_.size())); break;
  }
  gap_ = is_short() ? kShortGap : 0;
}

// The first call of all makes connections, and waits for ranks that began late.
void ModelFirst::hear(std::span<const double> seconds) {
  std::vector<double>& native = arms_[0].seconds;
  const double total = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  const std::size_t calls = planned_.size();
  if (seconds.size() < calls)
    native = {total / static_cast<double>(calls)};
  else
    native.insert(native.end(), seconds.begin() + (spent_ == 0 ? 1 : 0), seconds.end());
  if (spent_ == 0 && seconds.size() == 2 && is_uneven(seconds[0], seconds[1])) first_ = seconds[0];
  spent_ += total;
  native_ = mean(native);
}

/// So many that their times tell more than what sharing them takes.
int ModelFirst::timed() const {
  return std::clamp(static_cast<int>(kTimed / std::max(native_, 1e-6)), first_calls_,
                    kMostListened);
}

void ModelFirst::idle_for(double seconds) {
  const double most = kMostIdleCalls * static_cast<double>(planned_.size());
  idle_ = static_cast<int>(std::min(most, std::max(seconds, 0.0) / std::max(native_, 1e-6)));
}

bool ModelFirst::is_worth_asking() const {
  if (is_recalled() || taken_ < kWorthAsking || kPromising * native_ < least_) return false;
  return !asked_ || (!is_complete_ && taken_ >= kAskedAgain * asked_at_);
}

void ModelFirst::ask() {
  asked_ = true;
  asked_at_ = taken_;
  const Answer answer = ask_(taken_, native_);
  is_complete_ = answer.is_complete;
  for (const Promise& promise : answer.arms)
    arms_.push_back({.promise = {std::max(promise.seconds, 1e-9), promise.family, promise.risk}});
}

void ModelFirst::heard(std::span<const double> seconds) {
  hear(seconds);
  if (is_worth_asking()) ask();
  if (!asked_ && !is_short()) {
    listen_ = std::min(2 * listen_, kMostListened);
    return;
  }
  if (!asked_ && kPromising * native_ >= least_) {
    idle_for(std::min(kWorthAsking - taken_, kMostIdle * spent_));
    listen_ = timed();
    return;
  }
  const int next = most_promising();
  std::vector<double>& native = arms_[0].seconds;  // not before: asking adds arms
  if (planned_.size() > 1 && native.size() < 2 && is_in_doubt(next)) {
    listen_ = 1;
    return;
  }
  // Two of the three were as usual.
  if (first_ > 0 && native.size() == 2)
    native_ = median(std::vector<double>{first_, native[0], native[1]});
  native = {native_};
  // What was recalled and then doubted may still be better.
  if (const int best = best_known(); known(best) < kPromising * native_) lead(best);
  go_on();
}

// One native call says little where it is to decide among percents, or one of the two was held up.
bool ModelFirst::is_in_doubt(int next) const {
  return first_ > 0 || (next != 0 && predicted(next) > kSurely * native_);
}

void ModelFirst::go_on() {
  if (is_worth_asking()) ask();
  const int next = most_promising();
  const double loss = worst_ * (is_short() ? kShortTrial : kLongTrial);
  const bool is_borne = job_.bears(lost_seconds(), loss * native_);
  if (next != 0 && is_borne && may_lose(worst_)) {
    stage_ = Stage::trial;
    // So that not every kind of a job begins before the first one has lost.
    at_stake_ = std::max(loss, 1.0) * native_;
    on_trial_ = next;
    probed_ = false;
    trial_.clear();
    return;
  }
  stage_ = Stage::watch;
  // What the job cannot bear now it may soon.
  if (next != 0 && !is_borne) watch_ = first_watched();
  if (leader_ != 0 || !is_short()) return;
  watch_ = timed();
  idle_for(next != 0 ? kWorthAsking : quiet_);
  if (next == 0) quiet_ = std::min(2 * quiet_, kMostQuiet);
}

// The untried arm with the least prediction, if that is well below what is known to be best.
int ModelFirst::most_promising() const {
  int best = 0;
  for (int arm = 1; arm < static_cast<int>(arms_.size()); ++arm) {
    const Arm& candidate = arms_[static_cast<std::size_t>(arm)];
    if (candidate.tried || predicted(arm) >= kPromising * known(leader_)) continue;
    if (best == 0 || predicted(arm) < predicted(best)) best = arm;
  }
  return best;
}

bool ModelFirst::may_lose(double native_calls) const {
  const double won = native_ > 0 ? JobBudget::kOfWon * won_seconds_ / native_ : 0;
  return lost() + native_calls <=
         settings_.regret + settings_.budget * static_cast<double>(calls_) + won;
}

double ModelFirst::known(int arm) const {
  const Arm& one = arms_[static_cast<std::size_t>(arm)];
  if (one.seconds.empty()) return native_;
  if (is_short()) return least(one.seconds);
  double total = kPriorCalls * least(one.seconds), calls = kPriorCalls;
  for (std::size_t i = 0; i < one.seconds.size(); ++i) {
    const double of = i < one.calls.size() ? one.calls[i] : 1;
    total += of * one.seconds[i];
    calls += of;
  }
  return total / calls;
}

double ModelFirst::at_best(int arm) const {
  const auto& seconds = arms_[static_cast<std::size_t>(arm)].seconds;
  return seconds.empty() ? native_ : least(seconds);
}

double ModelFirst::predicted(int arm) const {
  return arms_[static_cast<std::size_t>(arm)].promise.all();
}

void ModelFirst::charge(int arm, double seconds, int calls) {
  if (arm == 0 || native_ <= 0) return;
  const double loss = std::max(0.0, seconds / native_ - 1);
  lost_ += loss * calls;
  lost_seconds_ += loss * calls * native_;
  worst_ = std::max(worst_, loss);
}

// The first calls make connections and plans, and any may be held up by what is not the arm's, such
// as a timeout of 200 ms: the faster one of two counts, or, where they are far apart, the median of
// three; and a first call that looks hopeless is believed only of an arm that promised little. What
// an arm takes on the average shows when it leads.
void ModelFirst::tried(std::span<const double> seconds) {
  Arm& arm = arms_[static_cast<std::size_t>(on_trial_)];
  trial_.insert(trial_.end(), seconds.begin(), seconds.end());
  const bool first = !std::exchange(probed_, true);
  const bool hopeless = least(seconds) > kHopeless * native_;
  arm.is_known(least(trial_), 1);
  if (first && (!hopeless || predicted(on_trial_) < kSurely * native_)) return;
  if (is_in_doubt_after(trial_) || is_warming_up()) return;
  arm.tried = true;
  at_stake_ = 0;
  double now = least(trial_);
  if (!is_short() && trial_.size() > 2 && is_uneven(trial_[0], trial_[1])) now = median(trial_);
  arm.is_known(is_short() && !first ? median(seconds) : now, 1);
  arm.out = first && hopeless;
  if (is_short())
    charge(on_trial_, known(on_trial_), static_cast<int>(trial_.size()));
  else
    for (const double one : trial_) charge(on_trial_, one, 1);
  correct(on_trial_, now);
  if (is_short() && now < known(leader_) / kPromising) return race(on_trial_, leader_);
  if (!is_short() && follows(on_trial_, now)) return;
  go_on();
}

// Where only timeouts make the leader slower, native has to show in a race that it is; an arm is
// left without one, in which both would run by turns.
bool ModelFirst::follows(int arm, double seconds) {
  const double usually = leader_ == 0 ? kPromising : 1 / kPromising;
  if (is_short() || seconds < kPromising * at_best(leader_) ||
      (seconds < kPromising * known(leader_) && seconds < usually * at_best(leader_))) {
    lead(arm);
    return false;
  }
  if (seconds >= known(leader_) / kPromising) return false;
  race(arm, leader_);
  return true;
}

// Of times of a race: short calls are held up by what is not theirs.
double ModelFirst::usual(std::span<const double> times) const {
  if (is_short()) return median(times);
  return (mean(times) * static_cast<double>(times.size()) + kPriorCalls * median(times)) /
         (static_cast<double>(times.size()) + kPriorCalls);
}

bool ModelFirst::is_in_doubt_after(std::span<const double> trial) const {
  return !is_short() && trial.size() == 2 && is_uneven(trial[0], trial[1]) &&
         least(trial) < kPromising * known(leader_);
}

// Connections that have not carried so much yet, or have just lost some, become faster from call to
// call: an Alltoall of leaders took 194, 164, 154, 142 and 133 ms, and 134 from then on.
bool ModelFirst::is_warming_up() const {
  if (is_short() || trial_.size() < 2 || trial_.size() >= kMostWarming) return false;
  const double before = least(std::span(trial_).first(trial_.size() - 1));
  return trial_.back() < kWarmer * before && trial_.back() > predicted(on_trial_);
}

// The same algorithm with other parameters is as far off, and all others are as far as those that
// were measured are on the average, with three that were right: the first one was taken because its
// prediction was the least. What was held up says nothing of others.
void ModelFirst::correct(int arm, double seconds) {
  const Arm measured = arms_[static_cast<std::size_t>(arm)];
  const double ratio = seconds / measured.promise.seconds;
  const double factor = std::clamp(ratio, 1 / kMostCorrected, kMostCorrected);
  const double before = bias();
  if (ratio <= kMostCorrected && !measured.is_corrected) {
    ratios_ += factor * before;
    ++measured_;
  }
  for (Arm& other : arms_) {
    if (other.tried) continue;
    if (other.promise.family == measured.promise.family) {
      other.promise.seconds *= factor;
      other.is_corrected = true;
    } else if (!other.is_corrected) {
      other.promise.seconds *= bias() / before;
    }
  }
}

double ModelFirst::bias() const { return (ratios_ + kPriorArms) / (measured_ + kPriorArms); }

void ModelFirst::race(int challenger, int against) {
  stage_ = Stage::race;
  const double run = std::max(kRun, kRunOfChain * chain_);
  run_ = is_short() ? std::clamp(static_cast<int>(run / native_), 1, kLongestRun) : 1;
  on_trial_ = challenger;
  against_ = against;
  blocks_.clear();
}

// A call that was held up says no more than that it was. Where the others do not decide, or what
// was held up says the contrary, the averages do, after as many blocks as there may be.
void ModelFirst::raced(std::span<const double> seconds) {
  for (std::size_t i = 0; i + 1 < seconds.size(); i += 2) {
    const bool turned = planned_[i * static_cast<std::size_t>(run_)] == against_;
    const double own = seconds[turned ? i + 1 : i] / run_,
                 other = seconds[turned ? i : i + 1] / run_;
    blocks_.emplace_back(own, other);
    charge(on_trial_, std::min(own, kHopeless * known(on_trial_)), run_);
    charge(against_, std::min(other, kHopeless * known(against_)), run_);
  }
  const LogRatio found = log_ratio(blocks_);
  const std::size_t most = is_short() ? kShortBlocks : kLongBlocks;
  std::vector<double> own, other;
  for (const auto& [one, two] : blocks_) own.push_back(one), other.push_back(two);
  const double of_own = usual(own), of_other = usual(other);
  const bool agree = (of_own < of_other) == (found.mean < 0);
  const bool is_sure = agree && std::abs(found.mean) >= 2 * found.error;
  if (!is_sure && blocks_.size() < most && may_lose(0) && job_.bears(lost_seconds(), 0)) return;
  arms_[static_cast<std::size_t>(on_trial_)].is_known(of_own, 1);
  arms_[static_cast<std::size_t>(against_)].is_known(of_other, 1);
  native_ = known(0);
  const double ratio = is_sure || is_short() ? found.mean : same_log(of_own / of_other);
  if (ratio + found.error < 0)
    lead(on_trial_);
  else if (is_recalled() && on_trial_ == leader_)
    return begin_anew();  // the model has not been asked yet
  else
    drop(on_trial_);
  go_on();
}

void ModelFirst::lead(int arm) {
  leader_ = arm;
  watch_ = first_watched();
}

void ModelFirst::drop(int arm) {
  arms_[static_cast<std::size_t>(arm)].out = true;
  if (arm != leader_) return;
  leader_ = best_known();
  ++reopened_;
  watch_ = first_watched();
}

// The first calls make connections, also of what was recalled: being slow counts in the second
// epoch, or if nothing could be slower. Being fast counts at once: then native may be fast as well.
bool ModelFirst::holds_still(double mean) {
  if (!is_recalled() || recalled_right_) return true;
  const bool slow = mean > kAsRecalled * recalled_.seconds;
  const bool fast = mean * kAsRecalled < recalled_.seconds;
  if (slow && !std::exchange(was_slow_, true) && mean < kHopeless * native_) return true;
  const bool is_right = !slow && !fast;
  recalled_right_ = is_right;
  if (is_right) return true;
  arms_[static_cast<std::size_t>(leader_)].is_known(mean, static_cast<int>(planned_.size()));
  charge(leader_, mean, static_cast<int>(planned_.size()));
  begin_anew();
  return false;
}

void ModelFirst::begin_anew() {
  recalled_right_ = false;
  recalled_ = {};
  stage_ = Stage::listen;
  listen_ = first_calls_;
  leader_ = 0;
  native_ = spent_ = first_ = 0;
  arms_[0].seconds.clear();
  arms_[0].calls.clear();
  ++reopened_;
}

// A call in twenty may be held up by what is no fault of its arm; a call in four is not.
void ModelFirst::watched(double mean) {
  if (!holds_still(mean)) return;
  watch_ = std::min(2 * watch_, most_watched());
  Arm& arm = arms_[static_cast<std::size_t>(leader_)];
  arm.calls.resize(arm.seconds.size(), 1);
  if (!arm.seconds.empty()) arm.seconds = {arm.seconds.back()}, arm.calls = {arm.calls.back()};
  arm.seconds.push_back(mean);
  arm.calls.push_back(static_cast<int>(planned_.size()));
  charge(leader_, known(leader_), static_cast<int>(planned_.size()));
  if (leader_ == 0) {
    native_ = known(0);
  } else {
    won_seconds_ += std::max(0.0, native_ - mean) * static_cast<double>(planned_.size());
    // Native's time is of calls long past: it has to show that it is still so fast.
    if (known(leader_) > native_) return race(leader_, 0);
  }
  const int better = best_known();
  if (known(better) < kPromising * known(leader_) && follows(better, known(better))) return;
  go_on();
}

int ModelFirst::first_watched() const { return is_short() ? timed() : kFirstWatched; }

int ModelFirst::most_watched() const {
  if (!is_short()) return kMostWatched;
  return std::max(kMostWatched, static_cast<int>(kQuiet / std::max(known(leader_), 1e-6)));
}

int ModelFirst::best_known() const {
  int best = 0;
  for (int arm = 1; arm < static_cast<int>(arms_.size()); ++arm) {
    const Arm& one = arms_[static_cast<std::size_t>(arm)];
    if (one.tried && !one.out && known(arm) < known(best)) best = arm;
  }
  return best;
}

}  // namespace unisono
