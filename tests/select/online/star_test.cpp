#include "select/online/star.h"

#include "tests/select/online/simulated_ranks.h"

namespace unisono {
namespace {

SimulatedRanks star(const SimulatedMachine& machine, int arms, double noise = 0) {
  return SimulatedRanks(
      3, [=] { return std::make_unique<Star>(arms, StarSettings{}); }, machine, 1, noise);
}

TEST(Star, RunsEveryArmTenTimesInTurnThenTheBest) {
  const double seconds[] = {3e-4, 1e-4, 2e-4};
  auto ranks = star([&](int arm, long) { return seconds[arm]; }, 3);
  for (int arm = 0; arm < 3; ++arm)
    for (int i = 0; i < 10; ++i) EXPECT_EQ(ranks.call(), arm);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ranks.call(), 0);  // the table is under way
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(ranks.call(), 1);
  EXPECT_EQ(ranks.policy().reopened(), 0);
}

// Of ten times the best six count, of the slowest rank.
TEST(Star, ScoresTheBestHalfOfTheSlowestRank) {
  Star policy(2, {});
  ASSERT_EQ(policy.plan().size(), 20U);
  std::vector<Nanoseconds> table(20, 100);
  for (int i = 0; i < 4; ++i) table[static_cast<std::size_t>(i)] = 100000;  // native's outliers
  for (int i = 10; i < 20; ++i) table[static_cast<std::size_t>(i)] = 110;
  policy.learn(table);
  EXPECT_EQ(policy.leader(), 0);
  table[4] = table[5] = table[6] = 200;
  Star other(2, {});
  other.learn(table);
  EXPECT_EQ(other.leader(), 1);
}

TEST(Star, TheMonitoringWindowDoublesWhileTheLeaderIsGood) {
  Star policy(2, {});
  std::vector<Nanoseconds> table(20, 100);
  std::fill(table.begin() + 10, table.end(), 200);
  policy.learn(table);
  for (const std::size_t window : {20U, 40U, 80U}) {
    EXPECT_EQ(policy.plan().size(), window);
    policy.learn(std::vector<Nanoseconds>{100, 100});
  }
}

TEST(Star, SwitchesOnlyIfBothMeansAreAboveTheThreshold) {
  Star policy(2, {});
  std::vector<Nanoseconds> table(20, 100);
  std::fill(table.begin() + 10, table.end(), 200);
  policy.learn(table);
  policy.learn(std::vector<Nanoseconds>{219, 500});  // 1.1 * 200 is 220: doubles
  EXPECT_EQ(policy.leader(), 0);
  EXPECT_EQ(policy.plan().size(), 40U);
  policy.learn(std::vector<Nanoseconds>{500, 219});  // slow, but not at the end: once more
  EXPECT_EQ(policy.leader(), 0);
  EXPECT_EQ(policy.plan().size(), 40U);
  policy.learn(std::vector<Nanoseconds>{221, 221});
  EXPECT_EQ(policy.leader(), 1);
  EXPECT_EQ(policy.plan().size(), 20U);
  EXPECT_EQ(policy.reopened(), 1);
}

TEST(Star, MonitoringTellsTheMeansOfAllAndOfTheLastTen) {
  Star policy(2, {});
  policy.learn(std::vector<Nanoseconds>(20, 100));
  std::vector<Nanoseconds> own(20, 10);
  std::fill(own.begin() + 10, own.end(), 30);
  EXPECT_EQ(policy.summary(own, own), (std::vector<Nanoseconds>{20, 30}));
}

TEST(Star, AdaptsToAChange) {
  const double before[] = {3e-4, 1e-4, 2e-4}, after[] = {3e-4, 9e-4, 2e-4};
  auto ranks =
      star([&](int arm, long call) { return (call < 200 ? before : after)[arm]; }, 3, 0.05);
  for (int i = 0; i < 800; ++i) ranks.call();
  EXPECT_EQ(ranks.policy().leader(), 2);
}

}  // namespace
}  // namespace unisono
