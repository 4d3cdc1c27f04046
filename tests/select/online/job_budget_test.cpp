// A job of many kinds, with a made-up judge for each: what all of them lose together.
#include "select/online/job_budget.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "select/online/duel.h"
#include "select/online/learner.h"
#include "select/online/model_first.h"

namespace unisono {
namespace {

/// A kind on a communicator of one rank: what another way really takes, in native calls.
struct Kind {
  double native, factor;
  Learner learner;
  std::vector<Nanoseconds> shared;
  double counted = 0;
};

/// What src/runtime/online.cpp does, with one rank: the job's account comes with the summaries.
class Job {
 public:
  explicit Job(bool is_bounded) : is_bounded_(is_bounded) {}

  /// Predicted: half of native's time, of every arm.
  void add_model(double native, double factor) {
    auto ask = [native](double, double) {
      std::vector<Promise> promises;
      for (int arm = 1; arm <= 6; ++arm) promises.push_back({0.5 * native, arm});
      return Answer{promises};
    };
    add(native, factor, std::make_unique<ModelFirst>(ModelSettings{}, 2, ask));
  }
  void add_duel(double native, double factor) {
    add(native, factor, std::make_unique<Duel>(0, 8, false));
  }

  /// Another call of every kind; those of one kind in a row, or all in turn.
  void run(int calls, bool in_turn) {
    for (int outer = 0; outer < (in_turn ? calls : static_cast<int>(kinds_.size())); ++outer)
      for (int inner = 0; inner < (in_turn ? static_cast<int>(kinds_.size()) : calls); ++inner)
        call(kinds_[static_cast<std::size_t>(in_turn ? inner : outer)]);
  }

  double lost() const { return lost_; }  ///< seconds, really
  double seconds() const { return seconds_; }
  double longest() const { return longest_; }
  int others() const { return others_; }  ///< calls that were not native
  int settled() const {
    int count = 0;
    for (const Kind& kind : kinds_) {
      const auto* duel = dynamic_cast<const Duel*>(&kind.learner.policy());
      count += duel != nullptr && duel->is_settled() ? 1 : 0;
    }
    return count;
  }

 private:
  void add(double native, double factor, std::unique_ptr<Policy> policy) {
    kinds_.push_back({native, factor, Learner(std::move(policy)), {}});
  }
  void call(Kind& kind) {
    const Policy& policy = kind.learner.policy();
    if (kind.learner.needs_summaries()) {
      if (is_bounded_) kind.learner.hear_of_job({account_, seconds_, longest_});
      kind.learner.learn(kind.shared, 1);
      const double lost = policy.lost_seconds() - JobBudget::kOfWon * policy.won_seconds();
      account_ += lost - kind.counted;
      kind.counted = lost;
      longest_ = std::max(longest_, policy.native_seconds());
    }
    const auto* duel = dynamic_cast<const Duel*>(&policy);
    const int arm = duel != nullptr && duel->is_settled() ? duel->leader() : kind.learner.arm();
    const double time = arm == 0 ? kind.native : kind.factor * kind.native;
    seconds_ += time;
    lost_ += time - std::min(time, kind.native);
    others_ += arm == 0 ? 0 : 1;
    if (duel != nullptr && duel->is_settled()) return;
    const auto end = static_cast<Nanoseconds>(seconds_ * 1e9);
    if (auto summary = kind.learner.note(static_cast<Nanoseconds>(time * 1e9), end))
      kind.shared = *summary;
  }

  bool is_bounded_;
  std::vector<Kind> kinds_;
  double account_ = 0, lost_ = 0, seconds_ = 0, longest_ = 0;
  int others_ = 0;
};

double bound(const Job& job) {
  return JobBudget::kShare * job.seconds() +
         std::max(JobBudget::kCalls * job.longest(), JobBudget::kLeast);
}

Job wrong_model(bool is_bounded, bool in_turn, double factor, int calls = 60) {
  Job job(is_bounded);
  for (int kind = 0; kind < 100; ++kind) job.add_model(0.01 + 0.0002 * kind, factor);
  job.run(calls, in_turn);
  return job;
}

// A hundred kinds of which the model knows nothing: without the bound each loses its eight calls.
TEST(JobBudget, ManyKindsLoseNoMoreThanTheJobBears) {
  for (const bool in_turn : {false, true})
    for (const double factor : {1.5, 3.0, 10.0}) {
      const Job free = wrong_model(false, in_turn, factor);
      const Job held = wrong_model(true, in_turn, factor);
      EXPECT_GT(free.lost(), 1.5 * bound(free)) << "there is something to be bounded";
      // Not known before it began: a trial of two calls, of as many kinds as may be under way; or
      // of a kind whose last call it was.
      const double unknown = 2 * factor * held.longest() * (in_turn ? JobBudget::kCalls : 2);
      EXPECT_LE(held.lost(), bound(held) + unknown) << in_turn << factor;
      EXPECT_LT(held.lost(), 0.6 * free.lost()) << in_turn << factor;
    }
}

TEST(JobBudget, ALongJobStaysWithinItsShare) {
  for (const bool in_turn : {false, true}) {
    const Job job = wrong_model(true, in_turn, 3, 2000);
    EXPECT_LE(job.lost(), 0.02 * job.seconds() + JobBudget::kCalls * job.longest());
  }
}

// What is won costs nothing; of kinds in turn, eight at once are tried.
TEST(JobBudget, WhereTheModelIsRightNothingIsHeldBack) {
  for (const bool in_turn : {false, true}) {
    const Job free = wrong_model(false, in_turn, 0.3), held = wrong_model(true, in_turn, 0.3);
    EXPECT_EQ(held.lost(), 0);
    EXPECT_LE(held.seconds(), (in_turn ? 1.3 : 1.01) * free.seconds());
  }
}

// An arm that makes connections has taken 3.4 s once, where a call takes 0.16: without a credit no
// other kind of a job of a minute was tried any more.
TEST(JobBudget, WhatWasWonPaysForAMishap) {
  const auto with_mishap = [](bool wins_first) {
    Job job(true);
    if (wins_first) job.add_model(0.1, 0.3);
    job.add_model(0.1, 20);
    job.add_model(0.1, 0.3);
    job.run(60, false);
    return job;
  };
  EXPECT_LT(with_mishap(false).others(), 5) << "nothing to pay from";
  const Job job = with_mishap(true);
  EXPECT_GT(job.others(), 2 * 50);
  EXPECT_LT(job.seconds(), 3 * 60 * 0.1) << "and the job has won";
}

Job slow_kernels(bool is_bounded, double factor, int calls) {
  Job job(is_bounded);
  for (int kind = 0; kind < 100; ++kind) job.add_duel(10e-6, factor);
  job.run(calls, true);
  return job;
}

TEST(JobBudget, DuelsWaitUntilTheJobCanBearThem) {
  const Job free = slow_kernels(false, 3, 1000), held = slow_kernels(true, 3, 1000);
  EXPECT_EQ(free.settled(), 100);
  EXPECT_GT(free.lost(), bound(free)) << "there is something to be bounded";
  EXPECT_LE(held.lost(), bound(held) + 2e-3);
  EXPECT_LT(held.settled(), 100);
  EXPECT_EQ(slow_kernels(true, 3, 40'000).settled(), 100) << "later all are known";
  const Job won = slow_kernels(true, 0.5, 2000);
  EXPECT_EQ(won.settled(), 100);
  EXPECT_EQ(won.lost(), 0);
}

// Policies that hear of no job have no such bound.
TEST(JobBudget, NothingHeardIsNoBound) {
  const JobBudget budget;
  EXPECT_TRUE(budget.bears(1e6, 1e6));
  JobBudget heard;
  heard.hear({.lost = 1, .seconds = 100, .longest_native = 0.05}, 0.4);
  EXPECT_TRUE(heard.bears(0.4, 1.3));
  EXPECT_FALSE(heard.bears(0.4, 1.5));
  EXPECT_FALSE(heard.bears(1.9, 0.0)) << "what the kind has lost since it heard of the job";
}

}  // namespace
}  // namespace unisono
