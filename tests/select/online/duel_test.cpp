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
  int idle = 0;                 ///< calls meanwhile that nobody looks at
  double lost = 0;              ///< native calls
  std::string explanation;
};

Outcome fought(const Times& times, unsigned seed) {
  SimulatedRanks ranks(
      3, [=] { return std::make_unique<Duel>(times.prior, 4, times.shares_cores); },
      [=](int arm, long) { return arm == 0 ? times.native : times.other; }, seed, times.noise,
      times.imbalance);
  const auto& duel = dynamic_cast<const Duel&>(ranks.policy());
  Outcome outcome;
  while (outcome.calls < 2'000'000) {
    const int arm = ranks.call();
    if (duel.is_settled()) break;  // before that call
    if (ranks.was_idle()) {
      ++outcome.idle;
      continue;
    }
    ++outcome.calls;
    outcome.of_other += arm;
  }
  outcome.is_settled = duel.is_settled();
  outcome.leader = duel.leader();
  outcome.lost = duel.lost();
  outcome.explanation = duel.explain();
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

// Of the kernels as of native: to watch a call keeps it from the fast path.
TEST(Duel, NorIsWhatWasThoughtBetterWatchedMeanwhile) {
  for (const double call : {4e-6, 5e-6, 50e-6}) {
    const Outcome outcome = fought({call, 0.5 * call, 1}, 1);
    EXPECT_EQ(outcome.leader, 1);
    EXPECT_GT(outcome.idle * 0.5 * call, 0.9e-3);
    EXPECT_LT(outcome.calls, 64 + 2 * 24 * 512);
  }
}

// Watching would cost more than it can win; but ranks that share cores may lose all their time.
TEST(Duel, WithACoreEachShortCallsStayAsWasThought) {
  Times times{0.3e-6, 0.8e-6, 1};
  const Outcome outcome = fought(times, 1);
  EXPECT_TRUE(outcome.is_settled);
  EXPECT_EQ(outcome.leader, 1);
  EXPECT_LE(outcome.calls, 16);
  EXPECT_EQ(outcome.explanation, "too short to compare");
  times.shares_cores = true;
  EXPECT_EQ(fought(times, 1).leader, 0);
}

// Of a program that does something else nearly all the time: which rank comes last changes, and the
// others wait for it. Where the program later does nothing else, the faster way is found.
TEST(Duel, CallsBesideMuchElseAreNotComparedYet) {
  for (const int prior : {0, 1}) {
    LearningRanks ranks(3, [=] { return std::make_unique<Duel>(prior, 16, false); });
    const auto& duel = dynamic_cast<const Duel&>(ranks.policy());
    double beside = 1e-3;  // seconds from call to call
    const auto times = [&](int arm, long call) {
      const double took = arm == prior ? 5e-6 : 2.5e-6;
      CallTimes all{{took + 0.04 * beside, took + 0.04 * beside, took + 0.04 * beside},
                    took + beside};
      all.own[static_cast<std::size_t>(call % 3)] = took;
      return all;
    };
    for (int i = 0; i < 100'000; ++i) EXPECT_EQ(ranks.call(times), prior);
    EXPECT_FALSE(duel.is_settled());
    EXPECT_LT(ranks.seen(), 100'000 / 400) << "to watch a call takes longer than the call";
    beside = 0;
    for (int i = 0; i < 100'000 && !duel.is_settled(); ++i) ranks.call(times);
    EXPECT_EQ(duel.leader(), 1 - prior);
  }
}

TEST(Duel, EndWhereCallsBecomeRare) {
  LearningRanks ranks(2, [] { return std::make_unique<Duel>(1, 16, false); });
  double beside = 0;
  const auto times = [&](int, long) { return CallTimes{{5e-6, 5e-6}, 5e-6 + beside}; };
  const auto& duel = dynamic_cast<const Duel&>(ranks.policy());
  while (ranks.was_idle() || duel.explain() != "taking turns") ranks.call(times);
  beside = 1e-3;
  const long before = ranks.seen();
  for (int i = 0; i < 5000; ++i) ranks.call(times);
  EXPECT_LT(ranks.seen() - before, 120) << "a block, and a run";
}

// Two blocks of few calls, and one more before; some more where one of the two is held up.
TEST(Duel, AHopelessWayCostsLittle) {
  for (unsigned seed = 1; seed <= 20; ++seed)
    for (const double factor : {8.0, 100.0, 10'000.0}) {
      const Outcome outcome = fought({10e-6, factor * 10e-6}, seed);
      EXPECT_EQ(outcome.leader, 0);
      EXPECT_LE(outcome.of_other, 2 + 4 * std::max(2, static_cast<int>(30 / factor)));
      EXPECT_LT(outcome.lost, std::max(90.0, 7 * factor));
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
        if (learner.needs_summaries()) learner.learn(shared);
        const bool native = learner.arm() == 0;
        clock += static_cast<Nanoseconds>((native ? 131e3 : 139e3) + computing(random));
        if (auto summary = learner.note(native ? 47'000 : 31'000, clock)) shared = *summary;
      }
      EXPECT_EQ(duel.leader(), 0) << seed;
    }
}

/// How often native stays where the time in calls is surely in the kernels' favour, and the
/// program takes `native` or `kernels` microseconds an iteration, of which `noise` are chance.
int native_stays(double native, double kernels, double noise, int prior) {
  int stays = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    auto made = std::make_unique<Duel>(prior, 4, true);
    const Duel& duel = *made;
    Learner learner(std::move(made));
    std::mt19937_64 random(seed);
    std::normal_distribution<double> chance(0, noise);
    double drift = 0;
    Nanoseconds clock = 0;
    std::vector<Nanoseconds> shared;
    while (!duel.is_settled()) {
      if (learner.needs_summaries()) {
        learner.learn(shared);
        drift = chance(random);  // of a whole run or two
      }
      const bool is_native = learner.arm() == 0;
      clock += static_cast<Nanoseconds>(1e3 * ((is_native ? native : kernels + drift)));
      if (auto summary = learner.note(is_native ? 47'000 : 31'000, clock)) shared = *summary;
    }
    stays += duel.leader() == 0 ? 1 : 0;
  }
  return stays;
}

// Where 24 runs do not make it sure, by what is more likely, whatever was thought better.
TEST(Duel, WithSharedCoresTheTimeInCallsIsNoEvidenceForAProgramThatComputes) {
  for (const int prior : {0, 1}) {
    EXPECT_GE(native_stays(131, 145, 40, prior), 28) << prior;
    EXPECT_LE(native_stays(145, 131, 40, prior), 12) << prior;
  }
}

/// Whatever the kernels take, and however that changes: while native leads, trying them loses no
/// more than the job's share of the time and what one block took that nobody could know.
TEST(Duel, WhatItLosesIsBounded) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> logarithm(-2, 5);
  for (int round = 0; round < 100; ++round) {
    std::vector<double> factors(5);
    for (double& factor : factors) factor = std::exp(logarithm(random));
    auto made = std::make_unique<Duel>(0, 4, round % 2 == 0);
    const Duel& duel = *made;
    Learner learner(std::move(made));
    Nanoseconds clock = 0;
    std::vector<Nanoseconds> shared;
    double lost = 0, worst = 0, block = 0;
    for (int call = 0; call < 20'000; ++call) {
      if (learner.needs_summaries()) {
        worst = std::max(worst, std::exchange(block, 0));
        learner.hear_of_job({duel.lost_seconds(), static_cast<double>(clock) * 1e-9});
        learner.learn(shared);
        clock += static_cast<Nanoseconds>(duel.idle()) * 10'000;
      }
      if (duel.is_settled()) break;
      const double factor = factors[static_cast<std::size_t>(call / 500) % factors.size()];
      const int arm = learner.arm();
      const auto took = static_cast<Nanoseconds>(arm == 0 ? 10e3 : 10e3 * factor);
      clock += took;
      if (arm == 1) {
        lost += std::max(0.0, factor - 1) * 10e-6;
        block += std::max(0.0, factor - 1) * 10e-6;
      }
      if (auto summary = learner.note(took, clock)) shared = *summary;
      const double may = JobBudget::kLeast + JobBudget::kShare * static_cast<double>(clock) * 1e-9;
      ASSERT_LE(lost, may + std::max(worst, block)) << round << ", call " << call;
    }
  }
}

/// Seconds of a call: native, the kernels.
Verdict verdict(int winner, WayTimes native, WayTimes kernels) {
  return {winner, {{native, kernels}}};
}

struct Recalled {
  int leader = 0, reopened = 0;
  int calls = 0, of_other = 0, exchanges = 0;  ///< until it was settled
};

/// One rank that takes `native` or `kernels` for a call, and `between` for what it does else.
Recalled recalled(std::vector<Verdict> remembered, double native, double kernels,
                  double between = 0, std::optional<Verdict> offered = {}, int prior = 0) {
  auto made = std::make_unique<Duel>(prior, 8, false);
  Duel& duel = *made;
  duel.recall(std::move(remembered));
  Learner learner(std::move(made));
  Recalled outcome;
  Nanoseconds clock = 0;
  std::vector<Nanoseconds> shared;
  while (true) {
    if (learner.needs_summaries()) {
      ++outcome.exchanges;
      if (offered) duel.offer(*offered);
      learner.learn(shared);
    }
    if (duel.is_settled()) break;
    const int arm = learner.arm();
    const auto time = static_cast<Nanoseconds>((arm == 0 ? native : kernels) * 1e9);
    clock += time + static_cast<Nanoseconds>(between * 1e9);
    ++outcome.calls;
    outcome.of_other += arm;
    if (auto summary = learner.note(time, clock)) shared = *summary;
  }
  outcome.leader = duel.leader();
  outcome.reopened = duel.reopened();
  return outcome;
}

TEST(Duel, WhatIsRememberedLeadsAndIsCheckedInOneRun) {
  const WayTimes slow{20e-6, 20e-6}, fast{5e-6, 5e-6};
  const Recalled kernels = recalled({verdict(1, slow, fast)}, 20e-6, 6e-6);
  EXPECT_EQ(kernels.leader, 1);
  EXPECT_EQ(kernels.of_other, kernels.calls) << "native never ran";
  EXPECT_LE(kernels.calls, 2 + 40);
  EXPECT_EQ(kernels.exchanges, 2);
  const Recalled native = recalled({verdict(0, fast, slow)}, 4e-6, 20e-6);
  EXPECT_EQ(native.leader, 0);
  EXPECT_EQ(native.of_other, 0);
  EXPECT_EQ(native.exchanges, 2);
}

// As slow as to lose now, or as fast as on a machine where native may be fast too.
TEST(Duel, WhatIsContradictedTwiceIsFoughtAnew) {
  const WayTimes native{20e-6, 20e-6}, kernels{12e-6, 12e-6};
  for (const double now : {60e-6, 2e-6}) {
    const Recalled outcome = recalled({verdict(1, native, kernels)}, 20e-6, now);
    EXPECT_EQ(outcome.leader, now < 20e-6 ? 1 : 0);
    EXPECT_EQ(outcome.reopened, 1);
    EXPECT_LT(outcome.of_other, outcome.calls) << "native was asked";
  }
}

// A clear verdict bears more than a narrow one.
TEST(Duel, WhatWonByAFactorMayChangeByIt) {
  EXPECT_TRUE(verdict(1, {80e-6, 80e-6}, {10e-6, 10e-6}).holds(1, {40e-6, 40e-6}));
  EXPECT_FALSE(verdict(1, {12e-6, 12e-6}, {10e-6, 10e-6}).holds(1, {40e-6, 40e-6}));
  EXPECT_FALSE(verdict(1, {1, 1}, {10e-6, 10e-6}).holds(1, {1e-3, 1e-3})) << "not by any factor";
  EXPECT_FALSE(verdict(1, {80e-6, 80e-6}, {10e-6, 10e-6}).holds(1, {0, 0}));
}

// Remembered of a program that calls in a loop, and of one that computes between the calls.
TEST(Duel, EachKindOfProgramHasItsOwnVerdict) {
  const Verdict loop = verdict(1, {20e-6, 20e-6}, {12e-6, 12e-6});
  const Verdict computes = verdict(0, {20e-6, 120e-6}, {13e-6, 140e-6});
  for (const bool newer : {false, true}) {
    const auto both = newer ? std::vector{computes, loop} : std::vector{loop, computes};
    EXPECT_EQ(recalled(both, 20e-6, 12e-6).leader, 1);
    const Recalled other = recalled(both, 20e-6, 12e-6, 110e-6);
    EXPECT_EQ(other.leader, 0);
    EXPECT_EQ(other.reopened, 0);
  }
}

TEST(Duel, AHopelessMemoryCostsAFewCalls) {
  const Recalled outcome =
      recalled({verdict(1, {20e-6, 20e-6}, {5e-6, 5e-6})}, 20e-6, 10e-3, 0, {}, 0);
  EXPECT_EQ(outcome.leader, 0);
  EXPECT_LE(outcome.of_other, 2 + 2 * 2 + 2 * 3);
}

// At the end of the first run, where its times are what they were there.
TEST(Duel, AnotherCommunicatorsVerdictIsTaken) {
  const Verdict there = verdict(1, {20e-6, 20e-6}, {5e-6, 5e-6});
  const Recalled taken = recalled({}, 20e-6, 5e-6, 0, there);
  EXPECT_EQ(taken.leader, 1);
  EXPECT_EQ(taken.calls, 8);
  EXPECT_EQ(taken.of_other, 0);
  EXPECT_GT(recalled({}, 500e-6, 5e-6, 0, there).of_other, 0) << "it was another kind of call";
}

TEST(Duel, IsFoundOutAndNotFromElsewhere) {
  auto made = std::make_unique<Duel>(0, 4, false);
  const Duel& duel = *made;
  EXPECT_FALSE(duel.found());
  Learner learner(std::move(made));
  Nanoseconds clock = 0;
  std::vector<Nanoseconds> shared;
  while (!duel.is_settled()) {
    if (learner.needs_summaries()) learner.learn(shared);
    if (duel.is_settled()) break;
    const Nanoseconds time = learner.arm() == 0 ? 20'000 : 10'000;
    clock += time + 1000;
    if (auto summary = learner.note(time, clock)) shared = *summary;
  }
  ASSERT_TRUE(duel.found());
  EXPECT_EQ(duel.found()->winner, 1);
  EXPECT_NEAR(duel.found()->times[0].in_calls, 20e-6, 1e-9);
  EXPECT_NEAR(duel.found()->times[1].all, 11e-6, 1e-6);
  EXPECT_FALSE(duel.found()->is_spread());
}

TEST(Duel, SaysWhatItKnows) {
  Duel duel(0, 4, false);
  EXPECT_EQ(duel.explain(), "being timed");
  EXPECT_FALSE(duel.is_settled());
  EXPECT_EQ(duel.times(1).calls, 0);
  Duel known(0, 4, false);
  known.recall({verdict(1, {20e-6, 21e-6}, {5e-6, 6e-6})});
  EXPECT_EQ(
      known.explain(),
      "remembered, kernels took 5.00 us, native 20.00 us; from call to call 6.00 us, native 21.00 "
      "us");
}

}  // namespace
}  // namespace unisono
