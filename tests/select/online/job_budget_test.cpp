// A job of many kinds, with a made-up judge for each: what all of them lose together.
#include "select/online/job_budget.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "select/online/duel.h"
#include "select/online/learner.h"

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

  void add_duel(double native, double factor) {
    add(native, factor, std::make_unique<Duel>(0, 8, false));
  }

  /// So many calls of every kind, in turn.
  void run(int calls) {
    for (int i = 0; i < calls; ++i)
      for (Kind& kind : kinds_) call(kind);
  }

  double lost() const { return lost_; }  ///< seconds, really
  double seconds() const { return seconds_; }
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
      if (is_bounded_) kind.learner.hear_of_job({account_, seconds_});
      kind.learner.learn(kind.shared);
      const double lost = policy.lost_seconds();
      account_ += lost - kind.counted;
      kind.counted = lost;
    }
    const auto* duel = dynamic_cast<const Duel*>(&policy);
    const int arm = duel != nullptr && duel->is_settled() ? duel->leader() : kind.learner.arm();
    const double time = arm == 0 ? kind.native : kind.factor * kind.native;
    seconds_ += time;
    lost_ += time - std::min(time, kind.native);
    if (duel != nullptr && duel->is_settled()) return;
    const auto end = static_cast<Nanoseconds>(seconds_ * 1e9);
    if (auto summary = kind.learner.note(static_cast<Nanoseconds>(time * 1e9), end))
      kind.shared = *summary;
  }

  bool is_bounded_;
  std::vector<Kind> kinds_;
  double account_ = 0, lost_ = 0, seconds_ = 0;
};

constexpr int kKinds = 15;  // of more, each is too rare to be compared

double bound(const Job& job) { return JobBudget::kShare * job.seconds() + JobBudget::kLeast; }

Job slow_kernels(bool is_bounded, double factor, int calls) {
  Job job(is_bounded);
  for (int kind = 0; kind < kKinds; ++kind) job.add_duel(10e-6, factor);
  job.run(calls);
  return job;
}

TEST(JobBudget, DuelsWaitUntilTheJobCanBearThem) {
  const Job free = slow_kernels(false, 3, 1000), held = slow_kernels(true, 3, 1000);
  EXPECT_EQ(free.settled(), kKinds);
  EXPECT_GT(free.lost(), bound(free)) << "there is something to be bounded";
  EXPECT_LE(held.lost(), bound(held) + 2e-3);
  EXPECT_LT(held.settled(), kKinds);
  EXPECT_EQ(slow_kernels(true, 3, 40'000).settled(), kKinds) << "later all are known";
  const Job won = slow_kernels(true, 0.5, 2000);
  EXPECT_EQ(won.settled(), kKinds);
  EXPECT_EQ(won.lost(), 0);
}

// Policies that hear of no job have no such bound.
TEST(JobBudget, NothingHeardIsNoBound) {
  const JobBudget budget;
  EXPECT_TRUE(budget.bears(1e6, 1e6));
  JobBudget heard;
  heard.hear({.lost = 1, .seconds = 70}, 0.4);
  EXPECT_TRUE(heard.bears(0.4, 0.3));
  EXPECT_FALSE(heard.bears(0.4, 0.5));
  EXPECT_FALSE(heard.bears(0.9, 0.0)) << "what the kind has lost since it heard of the job";
}

}  // namespace
}  // namespace unisono
