#include "tools/bench/race.h"

#include <gtest/gtest.h>

#include <random>

namespace unisono::bench {
namespace {

using Indices = std::vector<std::size_t>;

/// `blocks` times around `middle`, `spread` of it up and down.
Racer racer(double middle, int blocks, double spread = 0.001, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> noise(-spread, spread);
  Racer made;
  for (int i = 0; i < blocks; ++i) made.times.push_back(middle * (1 + noise(random)));
  return made;
}

TEST(Judge, FewBlocksMustSpeakClearly) {
  // Native, and arms that are 6, 1.5 and 1.1 times slower than the fastest.
  for (const auto& [blocks, leave] : std::vector<std::pair<int, Indices>>{
           {1, {1}}, {2, {1}}, {3, {1, 2}}, {5, {1, 2}}, {6, {1, 2, 3}}}) {
    const std::vector<Racer> racers = {racer(2.0, blocks), racer(6.0, blocks), racer(1.5, blocks),
                                       racer(1.1, blocks), racer(1.0, blocks)};
    EXPECT_EQ(judge(racers, 0, {}).leave, leave) << blocks;
  }
}

TEST(Judge, ShortCallsGetAllTheirBlocks) {
  const auto race = [](int blocks) {
    return judge(std::vector{racer(1e-5, blocks), racer(4e-5, blocks)}, 0, {}).leave;
  };
  EXPECT_EQ(race(5), Indices{});
  EXPECT_EQ(race(6), Indices{1});
}

TEST(Judge, NativeNeverLeaves) {
  const std::vector<Racer> racers = {racer(9, 20), racer(1, 20)};
  const Verdict verdict = judge(racers, 0, {});
  EXPECT_TRUE(verdict.leave.empty());
  EXPECT_TRUE(verdict.settled);
}

TEST(Judge, WhatCannotBeatNativeByTheMarginLeaves) {
  const std::vector<Racer> racers = {racer(1.0, 10), racer(0.99, 10), racer(1.0, 10)};
  const Verdict verdict = judge(racers, 0, {});
  EXPECT_EQ(verdict.leave, (Indices{1, 2}));
  EXPECT_TRUE(verdict.settled);
}

TEST(Judge, AlikeArmsSettleACellOnceTheyBeatNative) {
  std::vector<Racer> racers = {racer(2, 5), racer(1, 5), racer(1.005, 5)};
  EXPECT_FALSE(judge(racers, 0, {}).settled) << "five blocks have no interval of 95 %";
  racers = {racer(2, 6), racer(1, 6), racer(1.005, 6)};
  const Verdict verdict = judge(racers, 0, {});
  EXPECT_TRUE(verdict.leave.empty());
  EXPECT_TRUE(verdict.settled);
}

TEST(Judge, ArmsThatCannotBeToldApartGoOn) {
  const auto race = [](int blocks) {
    const std::vector<Racer> racers = {racer(2, blocks, 0.01, 1), racer(1, blocks, 0.3, 2),
                                       racer(1, blocks, 0.3, 3)};
    return judge(racers, 0, {});
  };
  EXPECT_FALSE(race(20).settled);
  EXPECT_TRUE(race(20).leave.empty());
}

TEST(Judge, ATimeoutNowAndThenThrowsNobodyOut) {
  std::vector<Racer> racers = {racer(2, 12), racer(1, 12), racer(1.01, 12)};
  for (const std::size_t block : {0U, 5U, 9U}) racers[1].times[block] += 200;
  EXPECT_TRUE(judge(racers, 0, {}).leave.empty());
}

TEST(Judge, ADriftThatAllSeeMovesNoRatio) {
  std::vector<Racer> racers = {racer(2, 8), racer(1.1, 8), racer(1, 8)};
  for (Racer& each : racers)
    for (std::size_t block = 0; block < each.times.size(); ++block)
      each.times[block] *= 1.0 + static_cast<double>(block);
  EXPECT_EQ(judge(racers, 0, {}).leave, Indices{1});
}

TEST(Judge, ThoseThatLeftAreNotAsked) {
  std::vector<Racer> racers = {racer(2, 8), racer(0.5, 2), racer(1, 8)};
  racers[1].runs = false;
  EXPECT_TRUE(judge(racers, 0, {}).leave.empty());
  EXPECT_TRUE(judge(racers, 0, {}).settled);
}

TEST(AllButFastest, KeepsNativeAndTheFastest) {
  std::vector<Racer> racers = {racer(9, 2), racer(3, 2), racer(1, 2), racer(2, 2), racer(0.5, 1)};
  racers[4].runs = false;
  EXPECT_EQ(all_but_fastest(racers, 0, 2), Indices{1});
  EXPECT_EQ(all_but_fastest(racers, 0, 5), Indices{});
}

TEST(HopelessAtOnce, OnlyLongCalls) {
  EXPECT_TRUE(hopeless_at_once(6, 1, {}));
  EXPECT_FALSE(hopeless_at_once(4, 1, {}));
  EXPECT_FALSE(hopeless_at_once(0.3, 0.01, {})) << "may be a retransmission";
}

}  // namespace
}  // namespace unisono::bench
