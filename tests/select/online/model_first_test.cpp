// A made-up judge: what arms really take, beside what a made-up model says of them.
#include "select/online/model_first.h"

#include <cmath>
#include <map>

#include "select/online/offers.h"
#include "tests/select/online/simulated_ranks.h"

namespace unisono {
namespace {

/// What an arm takes, and what the model says that it takes.
struct Arm {
  double seconds, predicted;
  int family = 0;
  double risk = 0;  // by the model
  int every = 0;    // each so manieth call of all meets a timeout; 0: none
  double cold = 0;  // what its first call takes more, as a share; the next ones half of it each
};
constexpr double kTimeout = 0.2;

constexpr double kNativeSeconds = 0.1;

class Judged {
 public:
  /// arms[0] is arm 1. `first`: native calls before the model is asked.
  explicit Judged(std::vector<Arm> arms, double native = kNativeSeconds, int first = 2,
                  double noise = 0, unsigned seed = 1, ModelSettings settings = {},
                  Recollection recollection = {})
      : arms_(std::move(arms)),
        ranks_(
            3,
            [=, this] {
              const bool remembers = recollection.seconds > 0 && !recollection.is_native;
              auto policy =
                  std::make_unique<ModelFirst>(settings, first, [=, this](double, double) {
                    ++asked_;
                    std::vector<Promise> promises;
                    for (std::size_t i = remembers ? 1 : 0; i < arms_.size(); ++i)
                      promises.push_back({arms_[i].predicted, arms_[i].family, arms_[i].risk});
                    return Answer{promises};
                  });
              if (recollection.seconds > 0) policy->recall(recollection);
              return policy;
            },
            [=, this](int arm, long call) {
              const double now = slow_from_ > 0 && call >= slow_from_ && arm != 0 ? slower_ : 1;
              const Arm own = arm == 0
                                  ? Arm{.seconds = native, .predicted = 0, .every = native_every_}
                                  : arms_[static_cast<std::size_t>(arm) - 1];
              const bool held_up = own.every > 0 && call % own.every == own.every - 1;
              const auto warm =
                  static_cast<double>(call - first_.try_emplace(arm, call).first->second);
              return now * own.seconds * (1 + own.cold * std::exp2(-warm)) +
                     (held_up ? kTimeout : 0) + (call == 0 ? connecting_ : 0);
            },
            seed, noise) {}

  /// From this call on no arm but native is what it was.
  void slow_down(long from, double factor) {
    slow_from_ = from;
    slower_ = factor;
  }
  void native_meets_timeouts(int every) { native_every_ = every; }
  /// The first call of all takes so many seconds more.
  void makes_connections(double seconds) { connecting_ = seconds; }
  /// How often each arm ran in so many calls.
  std::vector<int> run(int calls) {
    std::vector<int> times(arms_.size() + 1);
    for (int i = 0; i < calls; ++i) ++times[static_cast<std::size_t>(ranks_.call())];
    return times;
  }
  /// The arm of each of the next calls.
  std::vector<int> sequence(int calls) {
    std::vector<int> arms(static_cast<std::size_t>(calls));
    for (int& arm : arms) arm = ranks_.call();
    return arms;
  }
  /// Calls so far that were timed.
  long seen() const { return ranks_.seen(); }
  const ModelFirst& policy() const { return dynamic_cast<const ModelFirst&>(ranks_.policy()); }
  int asked() const { return asked_ / 3; }

 private:
  std::vector<Arm> arms_;
  long slow_from_ = 0;
  int native_every_ = 0;
  double slower_ = 1, connecting_ = 0;
  int asked_ = 0;
  std::map<int, long> first_;  // call of each arm
  SimulatedRanks ranks_;
};

TEST(ModelFirst, AFactorIsTakenAfterTwoNativeCalls) {
  Judged judged({{0.02, 0.025}});
  EXPECT_EQ(judged.run(2), (std::vector<int>{2, 0}));
  EXPECT_EQ(judged.run(500), (std::vector<int>{0, 500}));
  EXPECT_EQ(judged.asked(), 1);
  EXPECT_EQ(judged.policy().leader(), 1);
  EXPECT_EQ(judged.policy().lost(), 0);
}

TEST(ModelFirst, WhereNothingIsPromisingEverythingIsNative) {
  Judged judged({{0.01, 0.2}, {0.01, 0.3}});
  EXPECT_EQ(judged.run(1000), (std::vector<int>{1000, 0, 0}));
  EXPECT_EQ(judged.policy().lost(), 0);
  EXPECT_EQ(Judged({}).run(100), (std::vector<int>{100}));
}

TEST(ModelFirst, AThirdNativeCallWhereTheGainIsNoFactor) {
  Judged judged({{0.08, 0.08}});
  EXPECT_EQ(judged.run(3), (std::vector<int>{3, 0}));
  EXPECT_EQ(judged.run(60), (std::vector<int>{0, 60}));
}

// The second call passes while the rank that was held up in the first still counts.
TEST(ModelFirst, AThirdNativeCallWhereTheFirstTwoWereUneven) {
  const auto ask = [](double, double) { return Answer{{{0.06}}}; };
  ModelFirst held_up({}, 2, ask), even({}, 2, ask);
  ASSERT_EQ(held_up.plan(), (std::vector<int>{0, 0}));
  held_up.learn(std::vector<Nanoseconds>{250'000'000, 252'000'000}, 3);
  EXPECT_EQ(held_up.plan(), (std::vector<int>{0}));
  held_up.learn(std::vector<Nanoseconds>{160'000'000}, 3);
  EXPECT_EQ(held_up.plan(), (std::vector<int>{1}));
  EXPECT_EQ(held_up.native_seconds(), 0.16);
  // The second met a timeout: an arm that takes longer than native's usual calls does not run.
  ModelFirst timeout({}, 2, ask);
  timeout.plan();
  timeout.learn(std::vector<Nanoseconds>{50'000'000, 365'000'000}, 3);
  EXPECT_EQ(timeout.plan(), (std::vector<int>{0}));
  timeout.learn(std::vector<Nanoseconds>{47'000'000}, 3);
  EXPECT_EQ(timeout.native_seconds(), 0.05);
  EXPECT_EQ(timeout.plan(), (std::vector<int>{0, 0, 0, 0}));
  ASSERT_EQ(even.plan(), (std::vector<int>{0, 0}));
  even.learn(std::vector<Nanoseconds>{25'000'000, 45'000'000}, 3);
  EXPECT_EQ(even.plan().size(), 4U);  // the watch begins
}

TEST(ModelFirst, TheBestOfSeveralIsFound) {
  Judged judged({{0.05, 0.03, 1}, {0.02, 0.035, 2}, {0.09, 0.04, 3}});
  const auto times = judged.run(60);
  EXPECT_EQ(times[0], 2);
  EXPECT_EQ(judged.policy().leader(), 2);
  EXPECT_GE(times[2], 50);
}

// The model was three times too good for it, and then is for what is like it.
TEST(ModelFirst, AnArmCorrectsItsFamily) {
  Judged judged({{0.099, 0.033, 1}, {0.099, 0.034, 1}, {0.02, 0.05, 2}});
  judged.run(100);
  EXPECT_EQ(judged.policy().leader(), 3);
  EXPECT_EQ(judged.policy().times(2).calls, 0)
      << "predicted by its relative: no better than native";
}

TEST(ModelFirst, ALoserIsCalledTwice) {
  Judged judged({{0.2, 0.02}});
  EXPECT_EQ(judged.run(1000)[1], 2);
  EXPECT_EQ(judged.policy().leader(), 0);
  EXPECT_NEAR(judged.policy().lost(), 2, 1e-6);
}

TEST(ModelFirst, AHopelessOneThatPromisedLittleIsCalledOnce) {
  Judged judged({{0.6, 0.06}});
  EXPECT_EQ(judged.run(1000)[1], 1);
  EXPECT_NEAR(judged.policy().lost(), 5, 1e-6);
}

TEST(ModelFirst, AnArmThatWarmsUpIsGivenTheTime) {
  Judged judged({{.seconds = 0.07, .predicted = 0.07, .cold = 1}});
  judged.run(12);
  EXPECT_EQ(judged.policy().leader(), 1);
  Judged cold({{.seconds = 0.2, .predicted = 0.07, .cold = 0.02}});
  EXPECT_EQ(cold.run(60)[1], 2) << "and no other";
}

TEST(ModelFirst, PercentsAreDecidedByARace) {
  int right = 0, kept = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Judged better({{0.094, 0.05}}, kNativeSeconds, 2, 0.02, seed);
    better.run(60);
    right += better.policy().leader() == 1 ? 1 : 0;
    Judged worse({{0.106, 0.05}}, kNativeSeconds, 2, 0.02, seed);
    worse.run(60);
    kept += worse.policy().leader() == 0 ? 1 : 0;
  }
  EXPECT_GE(right, 32);
  EXPECT_GE(kept, 36);
}

TEST(ModelFirst, WhatIsLostIsBounded) {
  const ModelSettings settings;
  for (unsigned seed = 1; seed <= 30; ++seed) {
    Judged judged(
        {{0.3, 0.01, 1}, {0.25, 0.02, 2}, {0.35, 0.03, 3}, {0.15, 0.04, 4}, {0.12, 0.05, 5}},
        kNativeSeconds, 2, 0.1, seed);
    const int calls = 400;
    judged.run(calls);
    // One call cannot be stopped; a call of a hundred is held up for nine native ones.
    EXPECT_LE(judged.policy().lost(), settings.regret + settings.budget * calls + 12) << seed;
  }
  Judged none({{0.5, 0.01, 1}, {0.5, 0.01, 2}}, kNativeSeconds, 2, 0, 1,
              {.budget = 0, .regret = 0});
  EXPECT_EQ(none.run(500)[2], 0) << "after the first that lost nothing may be lost";
}

TEST(ModelFirst, NativeCallsAreFew) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    Judged judged({{0.02, 0.03, 1}, {0.03, 0.03, 2}, {0.2, 0.03, 3}}, kNativeSeconds, 2, 0.1, seed);
    EXPECT_LE(judged.run(300)[0], 3) << seed;
  }
}

TEST(ModelFirst, NativeComesBackWhenTheLeaderIsNoLongerFaster) {
  Judged judged({{0.05, 0.05}});
  judged.slow_down(100, 4);
  judged.run(100);
  EXPECT_EQ(judged.policy().leader(), 1);
  judged.run(400);
  EXPECT_EQ(judged.policy().leader(), 0);
  EXPECT_EQ(judged.policy().reopened(), 1);
}

// Calls of 100 us: nothing is asked in a short program, and only 64 of its calls are timed at
// first.
TEST(ModelFirst, ShortCallsAreAskedAboutLate) {
  Judged few({{5e-5, 5e-5}}, 1e-4, 64);
  EXPECT_EQ(few.run(180), (std::vector<int>{180, 0}));
  EXPECT_EQ(few.asked(), 0);
  EXPECT_EQ(few.seen(), 64);
  Judged many({{5e-5, 5e-5}}, 1e-4, 64);
  many.run(2000);
  EXPECT_EQ(many.asked(), 1);
  EXPECT_EQ(many.policy().leader(), 1);
}

// Native calls of 10 us: a program of 20000 is left alone but for a few epochs.
TEST(ModelFirst, ShortCallsThatNothingIsPromisingForAreLeftAlone) {
  Judged judged({{1e-4, 1e-4}}, 1e-5, 64);
  EXPECT_EQ(judged.run(20000), (std::vector<int>{20000, 0}));
  EXPECT_EQ(judged.asked(), 1);
  EXPECT_LE(judged.seen(), 2000);
  EXPECT_GE(judged.seen(), 500);
}

TEST(ModelFirst, ConnectionsDoNotMakeShortCallsLong) {
  Judged judged({{0.2e-3, 0.2e-3}}, 30e-6, 64);
  judged.makes_connections(46e-3);
  EXPECT_EQ(judged.run(20'000), (std::vector<int>{20'000, 0}));
  EXPECT_EQ(judged.asked(), 1);
  EXPECT_NEAR(judged.policy().native_seconds(), 30e-6, 5e-6);
}

TEST(ModelFirst, WhatRunsAheadIsLeftAloneAtFirst) {
  SimulatedRanks ranks(
      3,
      [] {
        const auto ask = [](double, double) { return Answer{{{5e-5}}}; };
        auto policy = std::make_unique<ModelFirst>(ModelSettings{}, 64, ask);
        policy->begin_after(4096);
        return policy;
      },
      [](int arm, long) { return arm == 0 ? 1e-4 : 5e-5; }, 1, 0);
  for (int call = 0; call < 4096; ++call) EXPECT_EQ(ranks.call(), 0);
  EXPECT_EQ(ranks.seen(), 0);
  for (int call = 0; call < 1000; ++call) ranks.call();
  EXPECT_EQ(ranks.policy().leader(), 1);
}

// No arm takes less than a message: then there is nothing to ask for.
TEST(ModelFirst, WhatTakesLessThanAMessageIsNotAskedAbout) {
  int asked = 0;
  const auto ask = [&](double, double) {
    ++asked;
    return Answer{{{5e-6}}};
  };
  SimulatedRanks ranks(
      3, [&] { return std::make_unique<ModelFirst>(ModelSettings{}, 64, ask, 20e-6); },
      [](int, long) { return 10e-6; }, 1, 0);
  for (int call = 0; call < 20000; ++call) EXPECT_EQ(ranks.call(), 0);
  EXPECT_EQ(asked, 0);
}

// Alternating calls would take from native what it gains where ranks run ahead of each other.
TEST(ModelFirst, ShortCallsRaceInRuns) {
  Judged judged({{1e-4, 0.8e-4}}, 1e-4, 64);
  judged.run(250);
  const std::vector<int> arms = judged.sequence(400);
  int turns = 0;
  for (std::size_t i = 1; i < arms.size(); ++i) turns += arms[i] != arms[i - 1] ? 1 : 0;
  const auto of_arm = std::count(arms.begin(), arms.end(), 1);
  EXPECT_GT(of_arm, 30);
  EXPECT_LT(turns, of_arm / 4);
}

TEST(ModelFirst, OneHeldUpEpochOfNativeIsNoReasonToTry) {
  // Predicted as fast as native is; only an epoch with a timeout makes it look promising.
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Judged judged({{0.2, 0.1}}, kNativeSeconds, 2, 0.01, seed);
    EXPECT_LE(judged.run(300)[1], 2) << seed;
  }
}

// A third of its calls meet a timeout: whatever its other calls take, it does not stay.
TEST(ModelFirst, TimeoutsOfTheLeaderCount) {
  Judged judged({{0.02, 0.02, 1, 0, 3}, {0.03, 0.03, 2}});
  judged.run(60);
  EXPECT_EQ(judged.policy().leader(), 2);
  EXPECT_NEAR(judged.policy().times(2).seconds.median, 0.03, 1e-6);
}

// Nothing is faster than native's usual calls, but native meets timeouts and the other does not.
TEST(ModelFirst, TimeoutsOfNativeCount) {
  Judged judged({{0.0165, 0.017}}, 0.0165);
  judged.native_meets_timeouts(5);
  judged.run(60);
  EXPECT_EQ(judged.policy().leader(), 1);
  Judged never({{0.0165, 0.017}}, 0.0165);
  EXPECT_EQ(never.run(60)[0], 60);
}

// One epoch with a timeout is no reason to leave what is best, or to stay with what is slower.
TEST(ModelFirst, OneTimeoutOfNativeMakesNothingSlowerLead) {
  for (const double slower : {0.13, 0.2}) {
    Judged judged({{slower, 0.05}}, kNativeSeconds);
    judged.native_meets_timeouts(40);
    judged.run(200);
    EXPECT_EQ(judged.policy().leader(), 0) << slower;
  }
}

TEST(ModelFirst, ATrialThatMetATimeoutIsTriedOnceMore) {
  const auto after = [](std::vector<double> trial) {
    ModelFirst judge({}, 2, [](double, double) { return Answer{{{0.016}}}; });
    judge.plan();
    judge.learn(std::vector<Nanoseconds>{60'000'000, 120'000'000}, 3);
    for (const double seconds : trial) {
      EXPECT_EQ(judge.plan(), (std::vector<int>{1}));
      judge.learn(std::vector<Nanoseconds>{static_cast<Nanoseconds>(1e9 * seconds)}, 3);
    }
    return judge.plan().front();
  };
  EXPECT_EQ(after({0.02, 0.016}), 1);
  EXPECT_EQ(after({0.25, 0.016, 0.017}), 1);
  EXPECT_EQ(after({0.016, 0.25, 0.017}), 1);
  EXPECT_EQ(after({0.25, 0.016, 0.26}), 0);
  EXPECT_EQ(after({0.016, 0.25, 0.26}), 0);
}

// Predicted as fast, but it may lose a timeout where ranks drift apart: the other runs first.
TEST(ModelFirst, WhatRisksATimeoutComesLater) {
  Judged judged({{0.02, 0.02, 1, 0.05}, {0.021, 0.021, 2}});
  EXPECT_EQ(judged.run(20), (std::vector<int>{2, 0, 18}));
}

// That an arm meets timeouts says nothing of what has another algorithm.
TEST(ModelFirst, ATimeoutCorrectsItsFamilyOnly) {
  Judged judged({{0.3, 0.02, 1}, {0.02, 0.085, 2}});
  judged.run(20);
  EXPECT_EQ(judged.policy().leader(), 2);
}

// A root that has handed its blocks to the system is through at once, and the others have them.
TEST(ModelFirst, WhatChoosingTakesIsMeasuredByNativesUsualTime) {
  ModelFirst judge({}, 2, [](double, double) { return Answer{{{0.016}}}; });
  judge.plan();
  judge.spend(300'000, 3);
  judge.learn(std::vector<Nanoseconds>{250'000'000, 250'007'000}, 3);
  judge.plan();
  judge.spend(300'000, 3);
  judge.learn(std::vector<Nanoseconds>{40'000'000}, 3);
  EXPECT_LT(judge.lost(), 0.1);
  EXPECT_EQ(judge.plan(), (std::vector<int>{1}));
}

// What has no price yet is priced when as much time has passed as pays for it.
TEST(ModelFirst, AsksAgainUntilAllHavePrices) {
  std::vector<double> asked;
  ModelFirst judge({}, 2, [&](double spent, double) {
    asked.push_back(spent);
    return asked.size() < 3 ? Answer{{}, false} : Answer{{{0.016}}};
  });
  for (int calls = 0; judge.leader() == 0 && calls < 200;) {
    const std::vector<int> plan = judge.plan();
    std::vector<Nanoseconds> own(plan.size());
    for (std::size_t i = 0; i < plan.size(); ++i) own[i] = plan[i] == 0 ? 60'000'000 : 16'000'000;
    calls += static_cast<int>(plan.size());
    judge.learn(judge.summary(own, own), 3);
  }
  EXPECT_EQ(judge.leader(), 1);
  ASSERT_EQ(asked.size(), 3U);
  for (std::size_t i = 1; i < asked.size(); ++i) EXPECT_GE(asked[i], 4 * asked[i - 1]);
}

// The first call makes connections: nobody corrects a model by it.
TEST(ModelFirst, ATrialIsNoTimeBeforeItsSecondCall) {
  ModelFirst judge({}, 2, [](double, double) { return Answer{{{0.016}}}; });
  judge.plan();
  judge.learn(std::vector<Nanoseconds>{60'000'000, 120'000'000}, 3);
  judge.plan();
  judge.learn(std::vector<Nanoseconds>{45'000'000}, 3);
  EXPECT_EQ(judge.times(1).calls, 0);
  judge.plan();
  judge.learn(std::vector<Nanoseconds>{16'000'000}, 3);
  EXPECT_EQ(judge.times(1).seconds.median, 0.016);
}

TEST(ModelFirst, SaysWhy) {
  Judged judged({{0.02, 0.025}});
  EXPECT_EQ(judged.policy().explain(0), "native is timed");
  judged.run(3);
  EXPECT_EQ(judged.policy().explain(1), "predicted 25 ms, native took 100 ms, on trial");
  judged.run(20);
  EXPECT_EQ(judged.policy().explain(1), "took 20 ms, predicted 25 ms, native took 100 ms");
}

/// Begins with what an earlier job has found: arm 1, or native.
Judged remembering(double arm, double native, Recollection recollection) {
  return Judged({{arm, 0.03}, {0.5 * arm, 0.5 * arm, 2}}, native, 2, 0, 1, {}, recollection);
}

TEST(ModelFirst, WhatIsRememberedRunsFromTheFirstCallAndNothingIsAsked) {
  Judged judged = remembering(0.02, kNativeSeconds, {false, 0.021, kNativeSeconds, {0.03, 1}});
  EXPECT_EQ(judged.run(20), (std::vector<int>{0, 20, 0}));
  EXPECT_EQ(judged.asked(), 0);
  EXPECT_EQ(judged.policy().recalled_right(), true);
  EXPECT_TRUE(judged.policy().is_recalled());
  EXPECT_EQ(judged.policy().explain(1),
            "remembered, took 20 ms, predicted 30 ms, native took 100 ms");
  EXPECT_EQ(judged.run(500), (std::vector<int>{0, 500, 0}));
  EXPECT_EQ(judged.asked(), 0);
}

TEST(ModelFirst, NativeMayBeRemembered) {
  Judged judged = remembering(0.02, kNativeSeconds, {true, kNativeSeconds, kNativeSeconds, {}});
  EXPECT_EQ(judged.run(20), (std::vector<int>{20, 0, 0}));
  EXPECT_EQ(judged.asked(), 0);
  EXPECT_EQ(judged.policy().explain(0), "remembered, native took 100 ms, no arm was better");
  judged.run(500);
  EXPECT_EQ(judged.asked(), 0);
}

// On a network that is five times slower now, and on one that is five times faster.
TEST(ModelFirst, AWrongMemoryIsFoundOutAndTheKindBeginsAnew) {
  for (const double was : {0.004, 0.1}) {
    Judged judged = remembering(0.02, kNativeSeconds, {false, was, 5 * was, {was, 1}});
    judged.run(100);
    EXPECT_EQ(judged.policy().recalled_right(), false) << was;
    EXPECT_EQ(judged.asked(), 1);
    EXPECT_FALSE(judged.policy().is_recalled());
    EXPECT_NE(judged.policy().leader(), 0);
    EXPECT_EQ(judged.policy().native_seconds(), kNativeSeconds) << "measured anew";
  }
}

// The model then names as many arms as otherwise.
TEST(ModelFirst, WhatIsNamedAfterAWrongMemoryIsTakenToTheLastArm) {
  std::vector<Arm> arms(1, {0.09, 0.09});
  for (std::size_t i = 0; i < kMostOffered; ++i)
    arms.push_back({0.05, 0.05 - 1e-3 * static_cast<double>(i), static_cast<int>(i) + 2});
  arms.back().seconds = 0.01;
  const int last = static_cast<int>(arms.size());
  Judged judged(arms, kNativeSeconds, 2, 0, 1, {}, {false, 0.04, kNativeSeconds, {0.04, 1}});
  judged.run(100);
  EXPECT_EQ(judged.policy().leader(), last);
  EXPECT_GT(judged.policy().times(last).calls, 0);
}

// What was remembered may lose this much, and no more.
TEST(ModelFirst, AHopelessMemoryIsGivenUpAfterTwoCalls) {
  Judged judged({{1.0, 0.03}}, kNativeSeconds, 2, 0, 1, {},
                {false, 0.02, kNativeSeconds, {0.02, 1}});
  EXPECT_EQ(judged.run(500)[1], 2);
  EXPECT_EQ(judged.policy().leader(), 0);
}

// As long as it took, but native has become better: the two are compared side by side.
TEST(ModelFirst, ARememberedArmThatNativeNowBeatsIsGivenUp) {
  Judged judged({{0.09, 0.05}}, 0.05, 2, 0, 1, {}, {false, 0.06, 0.08, {0.06, 1}});
  judged.run(200);
  EXPECT_EQ(judged.policy().leader(), 0);
  EXPECT_EQ(judged.asked(), 1) << "the model was asked then";
}

}  // namespace
}  // namespace unisono
