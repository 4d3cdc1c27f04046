#include "select/online/learner.h"

#include <algorithm>
#include <utility>

namespace unisono {

Learner::Learner(std::unique_ptr<Policy> policy) : policy_(std::move(policy)) {
  begin(policy_->plan());
}

void Learner::begin(std::vector<int> plan) {
  plan_ = std::move(plan);
  at_ = 0;
  times_.clear();
  ends_.clear();
}

void Learner::learn(std::span<const Nanoseconds> shared) {
  policy_->learn(shared);
  in_gap_ = false;
  begin(policy_->plan());
}

std::optional<std::vector<Nanoseconds>> Learner::note(Nanoseconds own, Nanoseconds end) {
  ++calls_;
  if (plan_[at_] != policy_->leader()) ++explored_;
  ++at_;
  if (in_gap_) return std::nullopt;
  if (times_.empty()) began_ = end - own;
  ends_.push_back(end - began_);
  times_.push_back(std::max<Nanoseconds>(own, 1));
  if (at_ < plan_.size()) return std::nullopt;
  auto summary = policy_->summary(times_, ends_);
  in_gap_ = true;
  begin(std::vector<int>(static_cast<std::size_t>(policy_->gap()), policy_->leader()));
  return summary;
}

Account Learner::account() const {
  return {calls_, explored_, policy_->lost(), policy_->reopened(), policy_->lost_seconds()};
}

}  // namespace unisono
