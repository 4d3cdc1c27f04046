// Ranks that call a collective on a simulated machine. Each has its own learner; what they tell
// each other arrives as late as the protocol allows.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "select/online/learner.h"

namespace unisono {

/// Seconds of call number `call` with this arm, without noise.
using SimulatedMachine = std::function<double(int arm, long call)>;

class SimulatedRanks {
 public:
  using Maker = std::function<std::unique_ptr<Policy>()>;

  /// `noise`: the deviation of the logarithm of a call's time; every rank waits besides for up to
  /// `imbalance` seconds, other ones in every call. In a call of a
  /// hundred all are held up for as long as nine native calls take.
  SimulatedRanks(int ranks, const Maker& make, SimulatedMachine machine, unsigned seed,
                 double noise = 0.1, double imbalance = 0)
      : machine_(std::move(machine)), random_(seed), noise_(noise), imbalance_(imbalance) {
    for (int rank = 0; rank < ranks; ++rank) learners_.emplace_back(make());
    idle_ = policy().idle();
  }

  /// The arm, which all ranks have chosen alike.
  int call() {
    if (learners_.front().needs_summaries())
      for (Learner& learner : learners_) {
        EXPECT_TRUE(learner.needs_summaries());
        learner.learn(shared_, static_cast<int>(learners_.size()));
        idle_ = learner.policy().idle();
      }
    if (was_idle_ = idle_ > 0; was_idle_) {
      --idle_;
      ++calls_;
      return policy().leader();
    }
    const int arm = learners_.front().arm();
    for (const Learner& learner : learners_) {
      EXPECT_FALSE(learner.needs_summaries());
      EXPECT_EQ(learner.arm(), arm) << "call " << calls_;
    }
    std::normal_distribution<double> normal(0, noise_);
    std::uniform_real_distribution<double> uniform(0, 1);
    const double outlier = uniform(random_) < 0.01 ? 9 * machine_(0, calls_) : 0;
    const double seconds = machine_(arm, calls_) * std::exp(normal(random_)) + outlier;
    bool first = true;
    clock_ += static_cast<Nanoseconds>((seconds + imbalance_) * 1e9);
    for (Learner& learner : learners_) {
      const double mine = seconds + imbalance_ * uniform(random_);
      const auto summary = learner.note(static_cast<Nanoseconds>(mine * 1e9), clock_);
      if (summary) combine(*summary, first);
      first = false;
    }
    ++calls_;
    return arm;
  }

  const Policy& policy() const { return learners_.front().policy(); }
  long calls() const { return calls_; }
  /// Those that learners saw.
  long seen() const { return learners_.front().account().calls; }
  /// Whether no learner saw the last call.
  bool was_idle() const { return was_idle_; }

 private:
  void combine(const std::vector<Nanoseconds>& summary, bool first) {
    if (first) {
      shared_ = summary;
      return;
    }
    ASSERT_EQ(summary.size(), shared_.size());
    for (std::size_t i = 0; i < summary.size(); ++i) shared_[i] = std::max(shared_[i], summary[i]);
  }

  SimulatedMachine machine_;
  std::mt19937_64 random_;
  double noise_, imbalance_;
  std::vector<Learner> learners_;
  std::vector<Nanoseconds> shared_;
  Nanoseconds clock_ = 0;
  long calls_ = 0;
  int idle_ = 0;  // calls to come that no learner sees
  bool was_idle_ = false;
};

}  // namespace unisono
