#include "tools/bench/call_pattern.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <set>

namespace unisono::bench {
namespace {

using std::chrono::nanoseconds;

TEST(CallPattern, NamesAreReadBack) {
  for (const CallPattern pattern :
       {CallPattern::barrier, CallPattern::loop, CallPattern::sleep, CallPattern::compute})
    EXPECT_EQ(pattern_named(pattern_name(pattern)), pattern);
  EXPECT_EQ(pattern_named("nap"), std::nullopt);
  EXPECT_EQ(pattern_names(), "barrier, loop, sleep, compute");
}

TEST(CallPattern, ComputingIsDifferentAndTheSameAgain) {
  std::set<nanoseconds> times;
  nanoseconds sum{};
  for (std::uint64_t block = 0; block < 10; ++block)
    for (int call = 0; call < 10; ++call)
      for (int rank = 0; rank < 10; ++rank) {
        const nanoseconds time = computing_time(7, block, call, rank);
        EXPECT_EQ(time, computing_time(7, block, call, rank));
        EXPECT_GE(time, nanoseconds(0));
        EXPECT_LT(time, kLongestComputing);
        times.insert(time);
        sum += time;
      }
  EXPECT_GT(times.size(), 980U) << "of a thousand draws of 100,000 values";
  EXPECT_NEAR(static_cast<double>(sum.count()) / 1000,
              static_cast<double>(nanoseconds(kLongestComputing).count()) / 2, 5000);
  EXPECT_NE(computing_time(7, 0, 0, 0), computing_time(8, 0, 0, 0));
}

TEST(CallPattern, SleepingGivesTheCoreAway) {
  const auto given_away = [] {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  };
  const long before = given_away();
  for (int i = 0; i < 5; ++i) sleep_before_call();
  EXPECT_GE(given_away() - before, 5);
}

TEST(CallPattern, ComputingTakesItsTime) {
  const auto begin = std::chrono::steady_clock::now();
  compute_for(kLongestComputing);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, kLongestComputing);
}

}  // namespace
}  // namespace unisono::bench
