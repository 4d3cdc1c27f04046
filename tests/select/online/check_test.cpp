#include "select/online/check.h"

#include "tests/select/online/simulated_ranks.h"

namespace unisono {
namespace {

/// Seconds of either way; native's is a function of the call.
SimulatedRanks ranks_with(SimulatedMachine machine, double noise = 0.1,
                          const std::optional<Verdict>& known = {}) {
  return SimulatedRanks(
      3, [known] { return std::make_unique<Check>(1, known); }, std::move(machine), 1, noise);
}

SimulatedMachine taking(double native, double arm) {
  return [=](int which, long) { return which == 0 ? native : arm; };
}

int natives_in(SimulatedRanks& ranks, int calls) {
  int natives = 0;
  for (int i = 0; i < calls; ++i) natives += ranks.call() == 0 ? 1 : 0;
  return natives;
}

TEST(Check, ShortProgramsRunTheSafeArmAlone) {
  auto ranks = ranks_with(taking(1e-3, 1e-2));
  EXPECT_EQ(natives_in(ranks, 500), 0);
}

TEST(Check, NativeLeadsWhereItIsSurelyFaster) {
  auto ranks = ranks_with(taking(5e-3, 1e-2));
  natives_in(ranks, 20'000);
  EXPECT_EQ(ranks.policy().leader(), 0);
  EXPECT_TRUE(ranks.policy().is_settled());
  const auto found = ranks.policy().found();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->winner, 0);
}

TEST(Check, WhereNativeStandsFirstTheArmIsTheChallenger) {
  SimulatedRanks ranks(
      3, [] { return std::make_unique<Check>(0); }, taking(1e-2, 5e-3), 1, 0.1);
  EXPECT_EQ(natives_in(ranks, 500), 500);
  natives_in(ranks, 20'000);
  EXPECT_EQ(ranks.policy().leader(), 1);
}

TEST(Check, TheSafeArmStaysWhereNativeIsSlower) {
  auto ranks = ranks_with(taking(3e-2, 1e-2));
  EXPECT_GT(natives_in(ranks, 60'000), 0);
  EXPECT_EQ(ranks.policy().leader(), 1);
}

// Of two ways that are alike neither is surely faster: what leads stays, in nearly every job.
TEST(Check, WaysThatAreAlikeChangeNothing) {
  int changed = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SimulatedRanks ranks(
        2, [] { return std::make_unique<Check>(); }, taking(1e-2, 1e-2), seed, 0.3);
    natives_in(ranks, 20'000);
    changed += ranks.policy().leader() == 0 ? 1 : 0;
  }
  EXPECT_LE(changed, 6);  // 1 % is promised
}

// One call that is held up for as long as a hundred is no evidence.
TEST(Check, OneOddCallDecidesNothing) {
  auto ranks = ranks_with([](int arm, long call) {
    return arm == 1 && call % 3'000 == 2'999 ? 1.0 : arm == 1 ? 1e-2 : 1.01e-2;
  });
  natives_in(ranks, 30'000);
  EXPECT_EQ(ranks.policy().leader(), 1);
}

/// Whatever native takes, checking loses no more than its share of the time and a pair of runs of
/// which nobody could know what it takes.
TEST(Check, WhatItLosesIsBounded) {
  const CheckSettings settings;
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> logarithm(-3, 6);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> factors(7);
    for (double& factor : factors) factor = std::exp(logarithm(random));
    double spent = 0, lost = 0, worst = 0;
    auto machine = [&](int arm, long call) {
      const double factor = factors[static_cast<std::size_t>(call / 100) % factors.size()];
      return arm == 1 ? 1e-2 : 1e-2 * factor;
    };
    SimulatedRanks ranks(
        2, [] { return std::make_unique<Check>(); }, machine, 3, 0);
    for (long call = 0; call < 10'000; ++call) {
      const int leader = ranks.policy().leader();
      const int arm = ranks.call();
      const double took = machine(arm, call);
      spent += took;
      if (leader == 1 && arm == 0) lost += std::max(0.0, took - 1e-2);
      worst = std::max(worst, took);
      ASSERT_LE(lost, settings.share * spent + 4 * worst) << round << ", call " << call;
    }
  }
}

TEST(Check, WhatAnEarlierJobWasSureOfLeads) {
  const Verdict safe{1, {{{2e-2, 2e-2}, {1e-2, 1e-2}}}}, native{0, {{{1e-2, 1e-2}, {2e-2, 2e-2}}}};
  auto first = ranks_with(taking(1e-3, 1e-2), 0.1, safe);
  EXPECT_TRUE(first.policy().is_settled());
  // Native is faster no longer: the arm is checked in turn, and leads again.
  auto second = ranks_with(taking(1e-1, 1e-2), 0.1, native);
  EXPECT_EQ(second.policy().leader(), 0);
  natives_in(second, 20'000);
  EXPECT_EQ(second.policy().leader(), 1);
}

}  // namespace
}  // namespace unisono
