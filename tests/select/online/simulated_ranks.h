// Ranks that call a collective, each with its own learner, on a machine that tests make up or jobs
// have recorded.
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

/// What a call took: seconds on each rank, and from the end of the call before until its own end on
/// the slowest.
struct CallTimes {
  std::vector<double> own;
  double all = 0;
};

/// The learners of all ranks. What they tell each other arrives as late as the protocol allows.
class LearningRanks {
 public:
  using Maker = std::function<std::unique_ptr<Policy>()>;
  /// Of call number `call` with this arm.
  using Times = std::function<CallTimes(int arm, long call)>;

  LearningRanks(int ranks, const Maker& make) {
    for (int rank = 0; rank < ranks; ++rank) learners_.emplace_back(make());
    idle_ = policy().idle();
  }

  /// The arm, which all ranks have chosen alike. Nobody asks for the times of a call that no
  /// learner sees.
  int call(const Times& times) {
    has_exchanged_ = learners_.front().needs_summaries();
    if (has_exchanged_)
      for (Learner& learner : learners_) {
        EXPECT_TRUE(learner.needs_summaries());
        learner.learn(shared_);
        idle_ = learner.policy().idle();
      }
    if (was_idle_ = idle_ > 0 || policy().is_settled(); was_idle_) {
      idle_ = std::max(idle_ - 1, 0);
      ++calls_;
      return policy().leader();
    }
    const int arm = learners_.front().arm();
    for (const Learner& learner : learners_) {
      EXPECT_FALSE(learner.needs_summaries());
      EXPECT_EQ(learner.arm(), arm) << "call " << calls_;
    }
    note(times(arm, calls_++));
    return arm;
  }

  const Policy& policy() const { return learners_.front().policy(); }
  long calls() const { return calls_; }
  /// Those that learners saw.
  long seen() const { return learners_.front().account().calls; }
  /// Whether the ranks combined their summaries before the last call, or the one under way.
  bool has_exchanged() const { return has_exchanged_; }
  /// Whether no learner saw the last call: it is not worth it yet, or no longer.
  bool was_idle() const { return was_idle_; }

 private:
  static Nanoseconds nanoseconds(double seconds) { return static_cast<Nanoseconds>(seconds * 1e9); }

  void note(const CallTimes& took) {
    clock_ += nanoseconds(took.all);
    for (std::size_t rank = 0; rank < learners_.size(); ++rank) {
      const auto summary = learners_[rank].note(nanoseconds(took.own[rank]), clock_);
      if (!summary) continue;
      if (rank == 0)
        shared_ = *summary;
      else
        for (std::size_t i = 0; i < summary->size(); ++i)
          shared_.at(i) = std::max(shared_.at(i), (*summary)[i]);
    }
  }

  std::vector<Learner> learners_;
  std::vector<Nanoseconds> shared_;
  Nanoseconds clock_ = 0;
  long calls_ = 0;
  int idle_ = 0;  // calls to come that no learner sees
  bool was_idle_ = false, has_exchanged_ = false;
};

/// Seconds of call number `call` with this arm, without noise.
using SimulatedMachine = std::function<double(int arm, long call)>;

/// Ranks that call a collective on a simulated machine.
class SimulatedRanks {
 public:
  /// `noise`: the deviation of the logarithm of a call's time; every rank waits besides for up to
  /// `imbalance` seconds, other ones in every call. In a call of a
  /// hundred all are held up for as long as nine native calls take.
  SimulatedRanks(int ranks, const LearningRanks::Maker& make, SimulatedMachine machine,
                 unsigned seed, double noise = 0.1, double imbalance = 0)
      : machine_(std::move(machine)),
        random_(seed),
        noise_(noise),
        imbalance_(imbalance),
        size_(static_cast<std::size_t>(ranks)),
        ranks_(ranks, make) {}

  /// The arm, which all ranks have chosen alike.
  int call() {
    return ranks_.call([this](int arm, long call) { return times(arm, call); });
  }

  const Policy& policy() const { return ranks_.policy(); }
  long calls() const { return ranks_.calls(); }
  long seen() const { return ranks_.seen(); }
  bool was_idle() const { return ranks_.was_idle(); }

 private:
  CallTimes times(int arm, long call) {
    std::normal_distribution<double> normal(0, noise_);
    std::uniform_real_distribution<double> uniform(0, 1);
    const double outlier = uniform(random_) < 0.01 ? 9 * machine_(0, call) : 0;
    const double seconds = machine_(arm, call) * std::exp(normal(random_)) + outlier;
    CallTimes took{{}, seconds + imbalance_};
    for (std::size_t rank = 0; rank < size_; ++rank)
      took.own.push_back(seconds + imbalance_ * uniform(random_));
    return took;
  }

  SimulatedMachine machine_;
  std::mt19937_64 random_;
  double noise_, imbalance_;
  std::size_t size_;
  LearningRanks ranks_;
};

}  // namespace unisono
