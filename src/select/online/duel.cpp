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
constexpr int kMostIdle = 8192;
constexpr int kFirstRun = 2;
constexpr double kHopeless = 4;  // times as slow
// To watch a call takes some 0.1 us, so that finding out costs shorter ones more than it can win.
constexpr double kShort = 1e-6;  // seconds
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
    : first_(first),
      run_(first),
      prior_(prior),
      leader_(prior),
      shares_cores_(shares_cores),
      run_seconds_(shares_cores ? kRunOfTurns : kRun),
      worth_asking_(kWorthAsking * patience * run_seconds_) {}

void Duel::recall(std::vector<Verdict> remembered) {
  if (remembered.empty()) return;
  remembered_ = std::move(remembered);
  stage_ = Stage::check;
  leader_ = remembered_.front().winner;
  run_ = kFirstRun;
}

int Duel::run_of(double seconds) const {
  return std::clamp(static_cast<int>(run_seconds_ / seconds), kFirstRun, kLongestRun);
}

std::vector<int> Duel::plan() {
  const auto calls = static_cast<std::size_t>(run_);
  if (stage_ != Stage::turns) return std::vector<int>(calls, leader_);
  std::vector<int> arms(calls, turned_ ? 1 : 0);
  arms.insert(arms.end(), calls, turned_ ? 0 : 1);
  return arms;
}

std::vector<Nanoseconds> Duel::summary(std::span<const Nanoseconds> own,
                                       std::span<const Nanoseconds> ends) const {
  const auto half = own.begin() + run_;
  const Nanoseconds first = std::accumulate(own.begin(), half, Nanoseconds{0});
  if (stage_ != Stage::turns) return {first, ends.back()};
  return {first, std::accumulate(half, own.end(), first), ends[static_cast<std::size_t>(run_) - 1],
          ends.back()};
}

void Duel::learn(std::span<const Nanoseconds> shared, int /*ranks*/) {
  const auto seconds = [&](Nanoseconds time) {
    return static_cast<double>(std::max<Nanoseconds>(time, 1)) / (run_ * 1e9);
  };
  if (stage_ == Stage::turns) {
    const auto block = [&](Nanoseconds first, Nanoseconds both) {
      return turned_ ? Block{seconds(first), seconds(both - first)}
                     : Block{seconds(both - first), seconds(first)};
    };
    compared(block(shared[0], shared[1]), block(shared[2], shared[3]));
  } else {
    last_ = {seconds(shared[0]), seconds(shared[1])};
    if (offered_ && offered_->holds(leader_, last_))
      adopt(*offered_, "as on another communicator");
    else if (stage_ == Stage::check)
      checked();
    else
      heard();
  }
  offered_.reset();
}

// The first calls make connections, and memory. A run that was held up is asked for once more; what
// two runs contradict is forgotten.
void Duel::checked() {
  const WayTimes& then = remembered_.front().times[static_cast<std::size_t>(leader_)];
  if (!std::exchange(is_warm_, true)) {
    run_ = run_of(std::max(then.in_calls, last_.in_calls));
    return;
  }
  const auto held = std::find_if(remembered_.begin(), remembered_.end(),
                                 [&](const Verdict& one) { return one.holds(leader_, last_); });
  if (held != remembered_.end()) return adopt(*held, "remembered");
  if (std::exchange(was_doubted_, true)) begin_anew();
}

void Duel::begin_anew() {
  stage_ = Stage::listen;
  leader_ = prior_;
  run_ = first_;
  is_warm_ = false;
  is_reopened_ = true;
}

void Duel::heard() {
  const double seconds = last_.in_calls;
  if (leader_ != 0 && !shares_cores_ && seconds < kShort) {
    origin_ = "too short to compare";
    return settle(leader_);
  }
  spent_ += seconds * (run_ + std::exchange(idle_, 0));
  double missing = worth_asking_ - spent_;
  if (missing <= 0 && may_try()) {
    stage_ = Stage::turns;
    if (!is_warm_) run_ = kFirstRun;
    if (leader_ == 0) at_stake_ = run_seconds_;
    return;
  }
  // Where the job cannot bear it, later.
  if (missing <= 0) missing = worth_asking_;
  idle_ = static_cast<int>(std::min<double>(missing / seconds, kMostIdle));
}

// What leads without having been measured may lose all the time: to find that out costs nothing.
bool Duel::may_try() const {
  if (leader_ != 0) return true;
  double loss = 0;
  if (!blocks_.empty()) loss = run_ * (blocks_.back().first - blocks_.back().second);
  return job_.bears(lost_seconds(), std::max(loss, 0.0));
}

void Duel::compared(const Block& in_calls, const Block& all) {
  const auto& [other, native] = in_calls;
  turned_ = !turned_;
  lost_ += std::max(0.0, other / native - 1) * run_;
  lost_seconds_ += std::max(0.0, other - native) * run_;
  at_stake_ = 0;
  run_ = run_of(std::max(other, native));
  // The first runs make connections, and memory.
  if (!std::exchange(is_warm_, true)) return;
  blocks_.push_back(in_calls);
  all_.push_back(all);
  decide();
  if (!is_settled() && !may_try()) stage_ = Stage::listen;
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
  const bool agree = in_calls.faster == all.faster || (!counts_all() && all.errors < 1);
  if (blocks < kLeastBlocks) return;
  if (all.errors > kSurely) return settle(all.faster);
  if (blocks >= kManyBlocks && in_calls.errors > kSurely && agree) return settle(in_calls.faster);
  if (all.is_alike && in_calls.is_alike) return settle(leader_);
  if (blocks < kMostBlocks) return;
  if (all.errors > kProbably || counts_all()) return settle(all.faster);
  settle(in_calls.errors > kProbably && agree ? in_calls.faster : leader_);
}

// There the time in calls is no evidence: 4 ranks of Open MPI on 2 cores that compute between calls
// spend less of it in a Gather of 8 B by the kernels, and the program takes longer.
bool Duel::counts_all() const {
  return shares_cores_ &&
         WayTimes{mean_of(blocks_, &Block::second), mean_of(all_, &Block::second)}.is_spread();
}

bool Duel::is_hopeless(int arm) const {
  return blocks_.size() >= kFewBlocks &&
         std::all_of(blocks_.begin(), blocks_.end(), [&](const auto& block) {
           const auto& [other, native] = block;
           return arm == 0 ? native > kHopeless * other : other > kHopeless * native;
         });
}

void Duel::settle(int winner) {
  stage_ = Stage::settled;
  leader_ = winner;
}

void Duel::adopt(const Verdict& verdict, const char* origin) {
  adopted_ = verdict;
  origin_ = origin;
  settle(verdict.winner);
}

std::optional<Verdict> Duel::found() const {
  if (!is_settled() || blocks_.empty() || adopted_) return std::nullopt;
  return Verdict{leader_,
                 {{{mean_of(blocks_, &Block::second), mean_of(all_, &Block::second)},
                   {mean_of(blocks_, &Block::first), mean_of(all_, &Block::first)}}}};
}

ArmTimes Duel::times(int arm) const {
  if (adopted_) {
    const auto way = static_cast<std::size_t>(arm);
    const double seconds = adopted_->times[way].in_calls;
    return {{seconds, seconds, seconds}, {}, run_};
  }
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
  if (stage_ == Stage::listen)
    return is_reopened_ ? "not as remembered, being timed" : "being timed";
  if (stage_ == Stage::turns) return "taking turns";
  std::optional<Verdict> verdict = this->verdict();
  std::string origin = origin_;
  if (stage_ == Stage::check) {
    verdict = remembered_.front();
    origin = "remembered";
  }
  if (!verdict) return origin;
  if (!origin.empty()) origin += ", ";
  const auto& [native, other] = verdict->times;
  char text[160];
  std::snprintf(text, sizeof text,
                "kernels took %.2f us, native %.2f us; from call to call %.2f us, native %.2f us",
                other.in_calls * 1e6, native.in_calls * 1e6, other.all * 1e6, native.all * 1e6);
  return origin + text;
}

}  // namespace unisono
