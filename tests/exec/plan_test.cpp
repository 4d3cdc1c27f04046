#include "exec/plan.h"

#include <gtest/gtest.h>

#include "schedule/builder.h"

namespace unisono {
namespace {

std::shared_ptr<const Plan> plan_of(int messages) {
  Args args;
  args.collective = Collective::bcast;
  args.size = 2;
  args.count = messages;
  Builder b(args);
  for (int i = 0; i < messages; ++i) b.send(1, b.output().part(i, 1));
  return std::make_shared<const Plan>(std::move(b).finish());
}

TEST(Plan, TurnsDependenciesAround) {
  const auto plan = plan_of(20);  // the channel holds 8: message k waits for message k - 8
  EXPECT_EQ(plan->sources().size(), 8U);
  EXPECT_EQ(plan->open()[8], 1U);
  ASSERT_EQ(plan->dependents(0).size(), 1U);
  EXPECT_EQ(plan->dependents(0)[0], 8U);
  EXPECT_TRUE(plan->dependents(19).empty());
}

TEST(PlanCache, KeepsItsBoundAndForgetsTheOldest) {
  const std::size_t one = plan_of(10)->bytes();
  std::atomic<std::size_t> total{0};
  PlanCache cache(5 * one, total);
  for (int i = 0; i < 100; ++i) {
    cache.store(std::to_string(i), plan_of(10));
    EXPECT_LE(cache.bytes(), 5 * one);
  }
  EXPECT_NE(cache.find("99"), nullptr);
  EXPECT_EQ(cache.find("1"), nullptr);
  EXPECT_GE(cache.size(), 2U);
}

TEST(PlanCache, KeepsWhatIsInUse) {
  std::atomic<std::size_t> total{0};
  PlanCache cache(5 * plan_of(10)->bytes(), total);
  cache.store("used", plan_of(10));
  for (int i = 0; i < 100; ++i) {
    cache.store(std::to_string(i), plan_of(10));
    EXPECT_NE(cache.find("used"), nullptr);
  }
}

TEST(PlanCache, DoesNotKeepWhatIsLargerThanTheBound) {
  std::atomic<std::size_t> total{0};
  PlanCache cache(64, total);
  cache.store("a", plan_of(100));
  EXPECT_EQ(cache.find("a"), nullptr);
  EXPECT_EQ(cache.bytes(), 0U);
}

TEST(PlanCache, SharesTheBoundWithTheOthersOfTheProcess) {
  const std::size_t limit = 5 * plan_of(10)->bytes();
  std::atomic<std::size_t> total{0};
  {
    PlanCache one(limit, total), other(limit, total);
    for (int i = 0; i < 20; ++i) {
      one.store(std::to_string(i), plan_of(10));
      other.store(std::to_string(i), plan_of(10));
      EXPECT_LE(total, limit);
      EXPECT_EQ(total, one.bytes() + other.bytes());
    }
  }
  EXPECT_EQ(total, 0U);
}

}  // namespace
}  // namespace unisono
