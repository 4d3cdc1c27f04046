#include "select/online/check.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace unisono {

namespace {

constexpr int kMostUnseen = 8192;  // calls; then the leader is timed again

double seconds_of(Nanoseconds time) {
  return static_cast<double>(std::max<Nanoseconds>(time, 1)) * 1e-9;
}

}  // namespace

Check::Check(int leader, const std::optional<Verdict>& known, CheckSettings settings)
    : settings_(settings), leader_(leader), idle_(settings.before), wager_(settings.clip) {
  if (!known) return;
  leader_ = known->winner;
  // What is safe needs no second look.
  is_settled_ = leader_ != 0;
}

std::vector<int> Check::plan() {
  std::vector<int> arms(kRun, leader_);
  if (compares_) arms.insert(is_turned_ ? arms.end() : arms.begin(), kRun, challenger());
  return arms;
}

std::vector<Nanoseconds> Check::summary(std::span<const Nanoseconds> /*own*/,
                                        std::span<const Nanoseconds> ends) const {
  return {ends[kRun - 1], ends.back()};
}

void Check::learn(std::span<const Nanoseconds> shared) {
  const double first = seconds_of(shared[0]);
  if (compares_) {
    const double second = seconds_of(shared[1] - shared[0]);
    is_turned_ ? compared(first, second) : compared(second, first);
  } else {
    seconds_[leader_] = first / kRun;
    least_ = std::min(least_, seconds_[leader_]);
    spent_ += first + least_ * idle_;
  }
  if (is_settled_)
    compares_ = false;
  else
    go_on();
}

void Check::compared(double leader, double challenger) {
  is_turned_ = !is_turned_;
  spent_ += leader + challenger;
  seconds_[leader_] = leader / kRun;
  seconds_[this->challenger()] = challenger / kRun;
  const double loss = std::max(0.0, challenger - leader);
  lost_ += loss;
  worst_ = std::max(worst_, loss);
  // The first pair makes connections, and memory.
  if (!std::exchange(is_warm_, true)) return;
  ++pairs_;
  leader_ == 0 ? wager_.add(challenger, leader) : wager_.add(leader, challenger);
  is_sure_ = wager_.evidence() >= settings_.sure;
  is_settled_ = is_sure_ || pairs_ == settings_.most_pairs;
  if (is_sure_) leader_ = wager_.faster();
}

double Check::at_stake() const { return is_warm_ ? worst_ : kRun * settings_.guess * least_; }

void Check::go_on() {
  const double missing = (lost_ + at_stake()) / settings_.share - spent_;
  compares_ = missing <= 0;
  const double calls = missing / least_;
  idle_ = compares_ ? 0 : static_cast<int>(std::clamp<double>(calls, 1, kMostUnseen));
}

std::optional<Verdict> Check::found() const {
  if (!is_sure_) return std::nullopt;
  return Verdict{leader_, {{{seconds_[0], seconds_[0]}, {seconds_[1], seconds_[1]}}}};
}

ArmTimes Check::times(int arm) const {
  const double seconds = seconds_[arm];
  if (!(seconds > 0)) return {};
  const double ratio = seconds_[0] > 0 ? seconds / seconds_[0] : 0;
  return {{seconds, seconds, seconds}, {ratio, ratio, ratio}, std::max(pairs_, 1) * kRun};
}

std::string Check::explain() const {
  if (pairs_ == 0) return leader_ == 0 ? "native first" : "safe";
  if (!is_settled_) return "being checked";
  char text[120];
  std::snprintf(text, sizeof text, "%s; native takes %.3g ms, the safe arm %.3g ms, by %d pairs",
                is_sure_ ? "surely faster" : "undecided", seconds_[0] * 1e3, seconds_[1] * 1e3,
                pairs_);
  return text;
}

}  // namespace unisono
