// One kind of call: which arm the next one gets, and when the ranks tell each other what they have
// measured. Everything happens at the same call on all ranks.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "select/online/policy.h"

namespace unisono {

/// What it cost so far to learn.
struct Account {
  long long calls = 0;
  long long explored = 0;   ///< of them: with another arm than the leader
  double lost = 0;          ///< by them against native, in native calls
  int reopened = 0;         ///< how often the leader was no longer what it had been
  double lost_seconds = 0;  ///< of one rank's time, where the policy knows it
};

class Learner {
 public:
  explicit Learner(std::unique_ptr<Policy> policy);

  /// Whether the next call needs the combined summaries first: learn() must be called.
  bool needs_summaries() const { return at_ == plan_.size() && in_gap_; }
  /// What came with the summaries that are about to be learned from.
  void hear_of_job(const JobAccount& account) { policy_->hear_of_job(account); }
  /// The combined summaries of all ranks.
  void learn(std::span<const Nanoseconds> shared);
  /// For the next call. Precondition: it needs no summaries.
  int arm() const { return plan_[at_]; }
  /// The call has taken so long, and is over: by a clock of this rank. A summary: it is to be
  /// combined with those of the other ranks.
  std::optional<std::vector<Nanoseconds>> note(Nanoseconds own, Nanoseconds end);

  const Policy& policy() const { return *policy_; }
  Account account() const;

 private:
  void begin(std::vector<int> plan);

  std::unique_ptr<Policy> policy_;
  bool in_gap_ = false;
  std::vector<int> plan_;
  std::size_t at_ = 0;
  Nanoseconds began_ = 0;
  std::vector<Nanoseconds> times_, ends_;
  long long calls_ = 0, explored_ = 0;
};

}  // namespace unisono
