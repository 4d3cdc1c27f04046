#include "exec/plan.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

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
  PlanStore store(5 * plan_of(10)->bytes());
  PlanCache cache(store);
  for (int i = 0; i < 100; ++i) {
    cache.store(std::to_string(i), plan_of(10));
    EXPECT_LE(store.bytes(), 5 * plan_of(10)->bytes());
  }
  EXPECT_NE(cache.find("99"), nullptr);
  EXPECT_EQ(cache.find("1"), nullptr);
  EXPECT_GE(cache.size(), 2U);
}

TEST(PlanCache, KeepsWhatIsInUse) {
  PlanStore store(5 * plan_of(10)->bytes());
  PlanCache cache(store);
  cache.store("used", plan_of(10));
  for (int i = 0; i < 100; ++i) {
    cache.store(std::to_string(i), plan_of(10));
    EXPECT_NE(cache.find("used"), nullptr);
  }
}

TEST(PlanCache, DoesNotKeepWhatIsLargerThanTheBound) {
  PlanStore store(plan_of(10)->bytes() * 2);
  PlanCache cache(store);
  cache.store("small", plan_of(10));
  cache.store("large", plan_of(100));
  EXPECT_EQ(cache.find("large"), nullptr);
  EXPECT_NE(cache.find("small"), nullptr);
}

TEST(PlanCache, SharesTheBoundWithTheOthersOfTheProcess) {
  const std::size_t limit = 5 * plan_of(10)->bytes();
  PlanStore store(limit);
  {
    PlanCache one(store), other(store);
    for (int i = 0; i < 20; ++i) {
      one.store(std::to_string(i), plan_of(10));
      other.store(std::to_string(i), plan_of(10));
      EXPECT_LE(store.bytes(), limit);
    }
  }
  EXPECT_EQ(store.bytes(), 0U);
}

/// As a call does it: one more build where the cache has none.
int builds(PlanCache& cache, const std::string& key) {
  if (cache.find(key) != nullptr) return 0;
  cache.store(key, plan_of(10));
  return 1;
}

TEST(PlanCache, OneThatHasFilledTheMemoryLeavesRoomForTheOthers) {
  PlanStore store(20 * plan_of(10)->bytes());
  PlanCache full(store), late(store);
  for (int i = 0; i < 100; ++i) builds(full, std::to_string(i));
  int built = 0;
  for (int call = 0; call < 100; ++call) built += builds(late, std::to_string(call % 3));
  EXPECT_EQ(built, 3);
  EXPECT_GT(full.size(), 2U);
  EXPECT_EQ(builds(full, "99"), 0) << "what it used last must have stayed";
}

TEST(PlanCache, ServesSeveralThreadsAtOnce) {
  PlanStore store(10 * plan_of(10)->bytes());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&store] {
      PlanCache cache(store);
      for (int i = 0; i < 500; ++i) {
        builds(cache, std::to_string(i % 7));
        const auto plan = cache.find(std::to_string(i % 7));  // others may have dropped it
        if (plan == nullptr) continue;
        EXPECT_EQ(plan->schedule().ops().size(), 10U);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store.bytes(), 0U);
}

}  // namespace
}  // namespace unisono
