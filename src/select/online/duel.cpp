#include "select/online/duel.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace unisono {

namespace {

constexpr int kFirstRun = 2, kLongestRun = 512;  // calls
constexpr int kMostIdle = 8192;                  // calls; then the leader is timed again
// After fewer blocks than many the time in calls does not decide: where the ranks compute, it is
// the worse evidence of the two.
constexpr int kFewBlocks = 2, kManyBlocks = 8;

double mean_of(const std::vector<std::pair<double, double>>& blocks,
               double std::pair<double, double>::*way) {
  double sum = 0;
  for (const auto& block : blocks) sum += block.*way;
  return sum / static_cast<double>(blocks.size());
}

}  // namespace

// Where native leads and each rank has a core, trying the kernels costs little, and they mostly
// win. Where the table of defaults names these, native's turns cost more than they bring in
// programs of some ms. A library that spins while ranks share cores takes 10 ms for a call, so that
// asking costs more than it can win soon; not in all collectives, nor in every program: 4 ranks of
// MPICH on 2 cores make an Allgather of 8 B in 8 us if they do nothing else.
double patience(int prior, bool shares_cores, int hopeless) {
  if (prior == 0) return shares_cores ? 1 : 0.3;
  return shares_cores && hopeless > 1 ? 40 : 5;
}

Duel::Duel(int prior, int first, bool shares_cores, double patience, DuelSettings settings)
    : settings_(settings),
      first_(first),
      run_(first),
      prior_(prior),
      leader_(prior),
      shares_cores_(shares_cores),
      run_seconds_(shares_cores ? settings.run_of_turns : settings.run),
      worth_asking_(settings.worth_asking * patience * run_seconds_),
      by_calls_(settings.clip),
      by_all_(settings.clip) {}

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

void Duel::learn(std::span<const Nanoseconds> shared) {
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
  if (leader_ != 0 && !shares_cores_ && seconds < settings_.brief) {
    origin_ = "too short to compare";
    return settle(leader_);
  }
  // A run has one pause less than calls.
  const double beside = (last_.all - last_.in_calls) * run_ / (run_ - 1);
  if (is_rare({last_.in_calls, last_.in_calls + beside})) {
    idle_ = kMostIdle;
    return;
  }
  spent_ += seconds * (run_ + std::exchange(idle_, 0));
  double missing = worth_asking_ - spent_;
  if (missing <= 0 && may_try()) {
    stage_ = Stage::turns;
    run_ = is_warm_ ? run_of(seconds) : kFirstRun;
    if (leader_ == 0) at_stake_ = run_seconds_;
    return;
  }
  // Where the job cannot bear it, later.
  if (missing <= 0) missing = worth_asking_;
  idle_ = static_cast<int>(std::min<double>(missing / seconds, kMostIdle));
}

// Where ranks share cores, how they wait may make the program slower, not only its calls. Elsewhere
// the kernels are mostly faster, and keep the lead wherever the time in calls says little.
bool Duel::is_rare(const WayTimes& times) const {
  if (shares_cores_) return false;
  return leader_ != 0 ? times.is_spread() : times.in_calls < settings_.share * times.all;
}

// What leads without having been measured may lose all the time: to find that out costs nothing.
bool Duel::may_try() const {
  if (leader_ != 0) return true;
  return job_.bears(lost_seconds(), worst_);
}

void Duel::compared(const Block& in_calls, const Block& all) {
  const auto& [other, native] = in_calls;
  turned_ = !turned_;
  lost_ += std::max(0.0, other / native - 1) * run_;
  const double loss = std::max(0.0, other - native) * run_;
  lost_seconds_ += loss;
  at_stake_ = 0;
  run_ = run_of(std::max(other, native));
  // The first runs make connections, and memory.
  if (!std::exchange(is_warm_, true)) return;
  worst_ = std::max(worst_, loss);
  blocks_.push_back(in_calls);
  all_.push_back(all);
  by_calls_.add(other, native);
  by_all_.add(all.first, all.second);
  decide();
  if (is_settled()) return;
  const WayTimes led = leader_ == 0 ? WayTimes{native, all.second} : WayTimes{other, all.first};
  const bool rare = is_rare(led);
  if (rare || !may_try()) stage_ = Stage::listen;
  if (!rare) return;
  run_ = first_;
  idle_ = kMostIdle;
}

// The time in calls contains what ranks wait for others that compute. Where these share cores, a
// way in which they wait longer may make the program faster: what the whole takes decides, if it is
// clear enough. 4 ranks of Open MPI on 2 cores that compute for up to 0.1 ms between Bcasts of 8 B
// spend 31 us in one of the kernels' and 47 in a native one, and from call to call 139 and 131.
void Duel::decide() {
  if (is_hopeless(0)) return settle(1);
  if (is_hopeless(1)) return settle(0);
  if (by_all_.evidence() >= settings_.sure) return settle(by_all_.faster());
  if (std::ssize(blocks_) < kManyBlocks) return;
  const bool is_last = std::ssize(blocks_) == kMostBlocks;
  const double enough = is_last ? settings_.likely : settings_.sure;
  const int by_calls = by_calls_.faster();
  if (by_all_.evidence() >= enough || (is_last && counts_all())) return settle(by_all_.faster());
  if (by_calls_.evidence() >= enough && !counts_all() &&
      by_all_.wealth(1 - by_calls) < settings_.likely)
    return settle(by_calls);
  if (is_last) settle(leader_);
}

// There the time in calls is no evidence: 4 ranks of Open MPI on 2 cores that compute between calls
// spend less of it in a Gather of 8 B by the kernels, and the program takes longer.
bool Duel::counts_all() const {
  return shares_cores_ &&
         WayTimes{mean_of(blocks_, &Block::second), mean_of(all_, &Block::second)}.is_spread();
}

bool Duel::is_hopeless(int arm) const {
  return std::ssize(blocks_) >= kFewBlocks &&
         std::all_of(blocks_.begin(), blocks_.end(), [&](const auto& block) {
           const auto& [other, native] = block;
           return arm == 0 ? native > settings_.hopeless * other
                           : other > settings_.hopeless * native;
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
