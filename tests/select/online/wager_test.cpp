#include "select/online/wager.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace unisono {
namespace {

/// Pairs until the wealth of some bet has grown `sure`-fold; 0: not within `most`.
int pairs_until(Wager& wager, double sure, int most, const std::function<double()>& logarithm) {
  for (int pairs = 1; pairs <= most; ++pairs) {
    wager.add(std::exp(logarithm()), 1);
    if (wager.evidence() >= sure) return pairs;
  }
  return 0;
}

TEST(Wager, LargeDifferencesAreFoundSoonAndSmallOnesInTheEnd) {
  Wager large(0.7), small(0.7), slower(0.7);
  EXPECT_LE(pairs_until(large, 100, 64, [] { return std::log(0.5); }), 10);
  EXPECT_EQ(large.faster(), 1);
  EXPECT_LE(pairs_until(slower, 100, 64, [] { return std::log(3.0); }), 10);
  EXPECT_EQ(slower.faster(), 0);
  EXPECT_GT(pairs_until(small, 100, 64, [] { return std::log(0.92); }), 10);
}

// Looked at after each pair, whatever the distribution is: with heavy tails on one side, too.
TEST(Wager, IsWrongAsSeldomAsItSays) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, 1);
  std::uniform_real_distribution<double> uniform(0, 1);
  const std::function<double()> chances[] = {
      [&] { return 0.1 * normal(random); },
      [&] { return 3 * normal(random); },
      [&] { return uniform(random) < 0.5 ? 0.05 : -0.05; },
      [&] { return uniform(random) < 0.1 ? 0.36 : -0.04; },
  };
  for (const auto& chance : chances) {
    int wrong = 0;
    for (int job = 0; job < 1000; ++job) {
      Wager wager(0.4);
      wrong += pairs_until(wager, 20, 64, chance) > 0 ? 1 : 0;
    }
    EXPECT_LE(wrong, 2 * 50 + 30) << "of 1000, for either way";
  }
}

// A pair that takes a thousand times as long says what one of twice as long says.
TEST(Wager, OnePairDecidesNothing) {
  Wager wager(0.7);
  wager.add(1000, 1);
  EXPECT_LT(wager.evidence(), 2);
}

}  // namespace
}  // namespace unisono
