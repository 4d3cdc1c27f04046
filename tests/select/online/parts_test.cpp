// The small parts of online selection.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "select/online/arms.h"
#include "select/online/key.h"
#include "select/online/learned.h"
#include "select/online/logarithm.h"
#include "select/online/settings.h"
#include "select/online/shuffle.h"
#include "select/profile.h"

namespace unisono {
namespace {

TEST(SameLog, IsTheLogarithm) {
  for (double x = 1e-12; x < 1e12; x *= 1.0137) EXPECT_NEAR(same_log(x), std::log(x), 1e-11) << x;
  EXPECT_EQ(same_log(1), 0);
}

// All ranks make the same turns, and both ways come after themselves and after each other.
TEST(Shuffle, RunsBothWaysInTurnsOfItsSeed) {
  Shuffle first(1, 64), second(1, 64), other(2, 64);
  const auto plan = first.plan();
  EXPECT_EQ(plan, second.plan());
  EXPECT_NE(plan, other.plan());
  EXPECT_NE(plan, first.plan());
  int followed[2][2] = {};
  for (int epoch = 0; epoch < 8; ++epoch) {
    const auto more = first.plan();
    EXPECT_EQ(std::count(more.begin(), more.end(), 1) * 2, std::ssize(more));
    for (std::size_t i = 1; i < more.size(); ++i) ++followed[more[i - 1]][more[i]];
  }
  for (const auto& row : followed)
    for (const int times : row) EXPECT_GE(times, 2);
}

TEST(SizeClass, EverySizeIsInItsClassAndClassesAdjoin) {
  for (Count bytes = 0; bytes < 5000; ++bytes) {
    const auto [least, most] = bytes_of_class(size_class(bytes));
    EXPECT_LE(least, bytes);
    EXPECT_GE(most, bytes);
    EXPECT_EQ(size_class(least), size_class(most));
    EXPECT_NE(size_class(most), size_class(most + 1));
  }
  for (const int shift : {20, 40, 61}) {
    const Count power = Count{1} << shift;
    EXPECT_NE(size_class(power - 1), size_class(power));
    EXPECT_NE(size_class(power + power / 2 - 1), size_class(power + power / 2));
    EXPECT_EQ(bytes_of_class(size_class(power)).first, power);
  }
}

TEST(OnlineKey, CallsWithOtherArmsAreOfAnotherKind) {
  const auto key = [](bool commutative, bool shared) {
    return online_key({Collective::allreduce, 4, 8, commutative, 1, shared}, 0);
  };
  EXPECT_EQ(key(true, true), key(true, true));
  EXPECT_NE(key(true, true), key(true, false));
  EXPECT_NE(key(true, true), key(false, true));
}

TEST(OnlineArms, NativeIsFirstAndAllCanServe) {
  for (int c = 0; c < kCollectives; ++c)
    for (int size = 2; size <= 20 && contains(kAmongAll, static_cast<Collective>(c)); ++size)
      for (Count bytes = 0; bytes < Count{1} << 24; bytes = 3 * bytes + 1)
        for (const bool commutative : {true, false})
          for (const bool shared : {true, false}) {
            const Facts facts{static_cast<Collective>(c), size, bytes, commutative, 1, shared};
            const auto arms = online_arms(facts, {});
            ASSERT_TRUE(arms.front().is_native());
            ASSERT_GE(arms.size(), 2U) << name(facts.collective);
            ASSERT_LE(arms.size(), kMostArms);
            ASSERT_EQ(text(arms[1]) == "shm", shared);
            for (std::size_t i = 1; i < arms.size(); ++i)
              ASSERT_FALSE(
                  unmet_restriction(*arms[i].algorithm, conditions(facts), arms[i].params));
          }
}

TEST(OnlineArms, WhatWouldRunAnywayIsAmongThem) {
  const auto spec = parse_spec(Collective::bcast, "chain:segment=123");
  const auto arms =
      online_arms({Collective::bcast, 8, 1 << 20}, {spec->algorithm, spec->params, "a test"});
  ASSERT_GE(arms.size(), 2U);
  EXPECT_EQ(text(arms[1]), text(*spec));
}

TEST(ParseOnline, ReadsWhatItWrites) {
  for (const char* written :
       {"off", "auto", "star:calls=10,threshold=1.1", "star:calls=5,threshold=2",
        "shuffle:seed=7,turn=64", "shuffle:seed=1,turn=128"}) {
    const auto settings = parse_online(written);
    ASSERT_TRUE(settings) << written;
    EXPECT_EQ(text(*settings), written);
  }
  EXPECT_EQ(text(*parse_online("star")), "star:calls=10,threshold=1.1");
  EXPECT_EQ(text(*parse_online("")), "off");
}

TEST(ParseOnline, SaysWhatIsValid) {
  for (const char* written :
       {"stars", "bandit", "model", "star:calls=0", "star:calls=2.5", "star:calls=4%", "star:calls",
        "star:,", "shuffle:seed=-1", "shuffle:calls=1", "off:calls=1", "auto:calls=1",
        "star:threshold=nan"}) {
    const auto settings = parse_online(written);
    ASSERT_FALSE(settings) << written;
    EXPECT_NE(settings.error().find("valid: auto, off, star"), std::string::npos)
        << settings.error();
  }
}

Learned learned(Collective collective, Count bytes, long long calls, const char* choice) {
  Learned one;
  one.key = online_key({collective, 4, bytes, true, 1}, 0);
  one.ranks = 4;
  one.bytes = bytes;
  one.account = {calls, calls / 10, 2.5, 1};
  one.choice = *parse_spec(collective, choice);
  one.arms = {{Spec{}, {{2e-3, 1e-3, 3e-3, 0.95}, {}, 12}},
              {one.choice, {{1e-3, 1e-3, 2e-3, 0.95}, {0.5, 0.4, 0.6, 0.95}, 12}}};
  one.decided = true;
  return one;
}

TEST(Learned, TheProfileCanBeRead) {
  Ledger ledger;
  ledger.add(learned(Collective::bcast, 65536, 100, "chain"));
  ledger.add(learned(Collective::bcast, 100000, 100, "binomial"));
  ledger.add(learned(Collective::barrier, 0, 100, "tree"));
  auto undecided = learned(Collective::alltoall, 64, 5, "simple");
  undecided.decided = false;
  ledger.add(undecided);
  auto elsewhere = learned(Collective::bcast, 65536, 100, "flat");
  elsewhere.ranks = 2;
  ledger.add(elsewhere);
  const Platform here{"mpich", "MPICH Version: 4", Place::oversubscribed, 0, 2};
  const auto profile = read_profile(profile_text(ledger, here, "2026-01-01T00:00:00Z"));
  ASSERT_TRUE(profile) << profile.error();
  const auto cells = cells_for(*profile, here);
  ASSERT_TRUE(cells) << cells.error();
  ASSERT_EQ(cells->size(), 4U);
  Selector selector;
  selector.use(*cells, "learned.json");
  EXPECT_EQ(selector.choose({Collective::bcast, 4, 65536}).algorithm->name, "chain");
  EXPECT_EQ(selector.choose({Collective::bcast, 4, 100000}).algorithm->name, "binomial");
  EXPECT_EQ(selector.choose({Collective::bcast, 2, 65536}).algorithm->name, "flat");
  EXPECT_EQ(selector.choose({Collective::alltoall, 4, 64}).algorithm, nullptr);
}

TEST(Learned, TheMostFrequentChoiceStandsAndCallsAddUp) {
  Ledger ledger;
  for (const auto& [calls, choice] : {std::pair(100, "chain"), {500, "binomial"}, {300, "flat"}})
    ledger.add(learned(Collective::bcast, 65536, calls, choice));
  ASSERT_EQ(ledger.all().size(), 1U);
  EXPECT_EQ(ledger.all().front().account.calls, 900);
  EXPECT_EQ(ledger.all().front().choice.algorithm->name, "binomial");
  const std::string line = line_of(ledger.all().front(), 1);
  EXPECT_NE(line.find("bcast of 64KB to"), std::string::npos) << line;
  EXPECT_NE(line.find("900 calls, 10.0 % of them to explore"), std::string::npos) << line;
}

// A share of calls that are no longer counted would be of the wrong whole: 82 of 2 were 4100 %.
TEST(Learned, WhatAVerdictHasCostIsAShareOfTheJobsTime) {
  auto judged = learned(Collective::bcast, 65536, 2, "shm");
  judged.is_judged = true;
  judged.account = {2, 1, 82, 0, 0.8e-3};
  const std::string line = line_of(judged, 4);
  EXPECT_NE(line.find("shm; 2 calls watched, 50.0 % of them to explore; lost to exploring: the "
                      "time of 82.0 native calls (0.8 ms, 0.02 % of the time since MPI_Init); "
                      "reopened 0 times"),
            std::string::npos)
      << line;
}

}  // namespace
}  // namespace unisono
