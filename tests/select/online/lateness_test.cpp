#include "select/online/lateness.h"

#include <gtest/gtest.h>

namespace unisono {
namespace {

using Ranks = std::vector<int>;

TEST(LateRanks, WhoIsSoonThroughWasLate) {
  EXPECT_EQ(late_ranks(std::vector<Nanoseconds>{900, 1000, 100, 950}), (Ranks{2}));
  EXPECT_EQ(late_ranks(std::vector<Nanoseconds>{100, 1000, 200, 950, 990}), (Ranks{2, 0}));
}

TEST(LateRanks, NobodyStandsOut) {
  EXPECT_EQ(late_ranks(std::vector<Nanoseconds>{1000, 1100, 990}), Ranks{});         // balanced
  EXPECT_EQ(late_ranks(std::vector<Nanoseconds>{100, 100, 120, 1000}), Ranks{});     // most are
  EXPECT_EQ(late_ranks(std::vector<Nanoseconds>{1000, 1999, 1999, 1999}), Ranks{});  // short
  EXPECT_EQ(late_ranks({}), Ranks{});
}

TEST(Lateness, HoldsWhatTwoEpochsInARowSay) {
  const std::vector<Nanoseconds> second_late{900, 100, 1000}, third_late{900, 1000, 100},
      balanced{100, 100, 100};
  Lateness lateness;
  lateness.learn(second_late);
  EXPECT_EQ(lateness.predicted(), nullptr);
  lateness.learn(second_late);
  ASSERT_NE(lateness.predicted(), nullptr);
  EXPECT_EQ(*lateness.predicted(), (Ranks{1}));
  lateness.learn(third_late);
  lateness.learn(balanced);
  EXPECT_EQ(*lateness.predicted(), (Ranks{1}));
  lateness.learn(balanced);
  EXPECT_EQ(lateness.predicted(), nullptr);
}

}  // namespace
}  // namespace unisono
