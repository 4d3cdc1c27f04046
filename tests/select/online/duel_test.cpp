// Two ways with made-up times: which one stays, when, and what finding that out has cost.
#include "select/online/duel.h"

#include "tests/select/online/simulated_ranks.h"

namespace unisono {
namespace {

struct Times {
  double native, other;
  int prior = 0;
  double noise = 0.1, imbalance = 0;
  bool shares_cores = false;
};

struct Outcome {
  bool is_settled = false;
  int leader = 0;
  int calls = 0, of_other = 0;  ///< until it was settled, or given up
  int idle = 0;                 ///< native calls meanwhile that nobody looks at
  double lost = 0;              ///< native calls
};

Outcome fought(const Times& times, unsigned seed) {
  SimulatedRanks ranks(
      3, [=] { return std::make_unique<Duel>(times.prior, 4, times.shares_cores); },
      [=](int arm, long) { return arm == 0 ? times.native : times.other; }, seed, times.noise,
      times.imbalance);
  const auto& duel = dynamic_cast<const Duel&>(ranks.policy());
  Outcome outcome;
  int idle = 0;
  while (outcome.calls < 2'000'000) {
    const int arm = ranks.call();
    if (duel.idle() != idle) outcome.idle += idle = duel.idle();
    if (duel.is_settled()) break;  // before that call
    ++outcome.calls;
    outcome.of_other += arm;
  }
  outcome.is_settled = duel.is_settled();
  outcome.leader = duel.leader();
  outcome.lost = duel.lost();
  return outcome;
}

TEST(Duel, TheFasterWayStaysWhateverWasThought) {
  int wrong = 0;
  for (unsigned seed = 1; seed <= 50; ++seed)
    for (const int prior : {0, 1})
      for (const double call : {1e-6, 30e-6, 2e-3}) {
        wrong += fought({call, 0.8 * call, prior}, seed).leader == 1 ? 0 : 1;
        wrong += fought({call, 1.25 * call, prior}, seed).leader == 0 ? 0 : 1;
      }
  EXPECT_LE(wrong, 6);  // of 600, with a call in a hundred that is held up for nine others
}

TEST(Duel, WhatWasThoughtBetterStaysWhereNothingIsSure) {
  for (const int prior : {0, 1}) {
    int others = 0;
    for (unsigned seed = 1; seed <= 100; ++seed) {
      const Outcome outcome = fought({10e-6, 10e-6, prior}, seed);
      EXPECT_TRUE(outcome.is_settled);
      others += outcome.leader == prior ? 0 : 1;
    }
    EXPECT_LT(others, 35);  // equal ways: it does not matter, but is rather not changed
  }
}

TEST(Duel, NothingIsAskedBeforeItIsWorthIt) {
  for (const double call : {1e-6, 5e-6, 50e-6}) {
    const Outcome outcome = fought({call, 0.5 * call}, 1);
    const double before = (outcome.idle + outcome.calls - 2 * outcome.of_other) * call;
    EXPECT_GE(before, 1.9e-3);
    EXPECT_GT(outcome.idle * call, 0.5 * before) << "most of them without a clock";
  }
}

// Two runs of few calls, and one more.
TEST(Duel, AHopelessWayCostsLittle) {
  for (unsigned seed = 1; seed <= 20; ++seed)
    for (const double factor : {8.0, 100.0, 10'000.0}) {
      const Outcome outcome = fought({10e-6, factor * 10e-6}, seed);
      EXPECT_EQ(outcome.leader, 0);
      EXPECT_LE(outcome.of_other, 2 + 3 * std::max(2, static_cast<int>(30 / factor)));
      EXPECT_LT(outcome.lost, std::max(60.0, 7 * factor));
    }
}

TEST(Duel, AHopelessNativeIsCalledASixfoldOnly) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Outcome outcome = fought({20e-3, 20e-6, 1, 0.1, 0, true}, seed);
    EXPECT_EQ(outcome.leader, 1);
    EXPECT_EQ(outcome.calls - outcome.of_other, 6);
    EXPECT_EQ(outcome.lost, 0);
  }
}

// Where the ranks compute for uneven times nothing is sure: what was thought better stays.
TEST(Duel, UnevenComputingDecidesNothingWrongly) {
  int wrong = 0;
  for (unsigned seed = 1; seed <= 50; ++seed)
    wrong += fought({10e-6, 11e-6, 0, 0.1, 300e-6}, seed).leader;
  EXPECT_LT(wrong, 20);
}

// Ranks that share cores wait in calls while others compute: less waiting may be more time.
TEST(Duel, WhatTheProgramTakesDecides) {
  for (const int prior : {0, 1})
    for (unsigned seed = 1; seed <= 20; ++seed) {
      auto made = std::make_unique<Duel>(prior, 4, true);
      const Duel& duel = *made;
      Learner learner(std::move(made));
      std::mt19937_64 random(seed);
      std::uniform_real_distribution<double> computing(-15e3, 15e3);
      Nanoseconds clock = 0;
      std::vector<Nanoseconds> shared;
      while (!duel.is_settled()) {
        if (learner.needs_summaries()) learner.learn(shared, 1);
        const bool native = learner.arm() == 0;
        clock += static_cast<Nanoseconds>((native ? 131e3 : 139e3) + computing(random));
        if (auto summary = learner.note(native ? 47'000 : 31'000, clock)) shared = *summary;
      }
      EXPECT_EQ(duel.leader(), 0) << seed;
    }
}

TEST(Duel, SaysWhatItKnows) {
  Duel duel(0, 4, false);
  EXPECT_EQ(duel.explain(), "being timed");
  EXPECT_FALSE(duel.is_settled());
  EXPECT_EQ(duel.times(1).calls, 0);
}

}  // namespace
}  // namespace unisono
