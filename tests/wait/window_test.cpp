// With made-up times.
#include "wait/window.h"

#include <gtest/gtest.h>

namespace unisono::wait {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

SleepCost sleeps_of(Time cost) {
  SleepCost sleep;
  sleep.overran(cost);
  return sleep;
}

/// One wait that the window lets pass, in yields of that length each.
Polled polled(Window& window, const SleepCost& sleep, Time yield) {
  Polled wait;
  while (!window.has_passed(wait, sleep)) {
    window.yielded(yield);
    wait = {wait.yields + 1, wait.lasted + yield};
  }
  return wait;
}

TEST(SleepCost, IsUnknownAtFirst) {
  SleepCost sleep;
  EXPECT_FALSE(sleep.is_known());
  EXPECT_EQ(sleep.cost(), Time(0));
}

TEST(SleepCost, IsHardlyChangedByOneSleep) {
  SleepCost sleep = sleeps_of(microseconds(32));
  sleep.overran(seconds(1));
  EXPECT_EQ(sleep.cost(), microseconds(36));
  sleep.overran(microseconds(-40));
  EXPECT_EQ(sleep.cost(), Time(31'500));
}

TEST(SleepCost, FollowsAMachineThatHasBecomeSlower) {
  SleepCost sleep = sleeps_of(microseconds(30));
  for (int i = 0; i < 100; ++i) sleep.overran(milliseconds(3));
  EXPECT_GT(sleep.cost(), milliseconds(2));
}

TEST(SleepCost, StaysUnknownWhereTheFirstSleepSeemsToBeEarly) {
  EXPECT_FALSE(sleeps_of(microseconds(-5)).is_known());
}

TEST(Window, PassesAfterAFewYieldsWhereTheFirstSleepIsStillToTell) {
  Window window;
  const int yields = polled(window, SleepCost(), microseconds(1)).yields;
  EXPECT_GE(yields, 1);
  EXPECT_LE(yields, 32);
}

TEST(Window, IsOfAsManyYieldsAsSomeSleepsCost) {
  Window window;
  const Polled wait = polled(window, sleeps_of(microseconds(30)), microseconds(1));
  EXPECT_EQ(wait.yields % 30, 0);
  EXPECT_LE(wait.lasted, 8 * microseconds(30));
}

TEST(Window, CountsAYieldInWhichOthersRanAsOne) {
  Window alone, shared;
  const SleepCost sleep = sleeps_of(microseconds(30));
  const int yields = polled(alone, sleep, microseconds(1)).yields;
  shared.yielded(microseconds(1));
  EXPECT_NEAR(polled(shared, sleep, microseconds(5)).yields, yields, yields / 4);
}

TEST(Window, PassesSoonerWhereEveryYieldTakesLong) {
  Window window;
  window.yielded(microseconds(1));
  EXPECT_LE(polled(window, sleeps_of(microseconds(30)), milliseconds(3)).yields, 2);
}

TEST(Window, FollowsAMachineOnWhichYieldsTakeLonger) {
  Window window;
  const SleepCost sleep = sleeps_of(microseconds(300));
  window.yielded(microseconds(1));
  for (int i = 0; i < 5000; ++i)
    window.slept(polled(window, sleep, microseconds(3)), microseconds(1), sleep);
  EXPECT_NEAR(polled(window, sleep, microseconds(3)).yields, 800, 5);
}

TEST(Window, ShrinksToOneSleepWhileWaitsAreLong) {
  Window window;
  const SleepCost sleep = sleeps_of(microseconds(30));
  for (int i = 0; i < 10; ++i) {
    const Polled wait = polled(window, sleep, microseconds(1));
    window.slept(wait, milliseconds(20), sleep);
  }
  EXPECT_EQ(polled(window, sleep, microseconds(1)).yields, 30);
}

TEST(Window, GrowsWhenSleepsEndSoon) {
  Window window;
  const SleepCost sleep = sleeps_of(microseconds(30));
  const int most = polled(window, sleep, microseconds(1)).yields;
  for (int i = 0; i < 10; ++i)
    window.slept(polled(window, sleep, microseconds(1)), milliseconds(20), sleep);
  for (int i = 0; i < 10; ++i) {
    const Polled wait = polled(window, sleep, microseconds(1));
    window.slept(wait, wait.lasted + microseconds(50), sleep);
  }
  EXPECT_GE(polled(window, sleep, microseconds(1)).yields, most / 2);
  EXPECT_LE(polled(window, sleep, microseconds(1)).yields, most);
}

/// Of so many waits, those that look again at once before they yield; none is over by then.
int looks_in(Window& window, int waits, bool comes) {
  int looks = 0;
  for (int i = 0; i < waits; ++i)
    if (window.at_once() > Time(0)) {
      ++looks;
      window.looked_at_once(comes);
    }
  return looks;
}

TEST(Window, LooksAtOnceWhileThatHelps) {
  Window window;
  EXPECT_EQ(looks_in(window, 100, true), 100);
  EXPECT_LE(looks_in(window, 1000, false), 1000 / 20);  // now and then whether that has changed
  EXPECT_GE(looks_in(window, 1000, false), 10);
  while (window.at_once() == Time(0)) continue;
  window.looked_at_once(true);
  EXPECT_EQ(looks_in(window, 100, true), 100);
}

TEST(Window, DoesNotLookAtOnceWhereHalfOfTheWaitsLast) {
  Window window;
  int looks = 0;
  for (int i = 0; i < 500; ++i) looks += looks_in(window, 1, true) + looks_in(window, 1, false);
  EXPECT_LE(looks, 100);
}

TEST(Window, LooksAtOnceForLessThanAChangeOfProcessTakes) {
  Window window;
  EXPECT_LE(window.at_once(), microseconds(8));
  window.yielded(Time(300));
  EXPECT_LE(window.at_once(), kYieldsPerChange * Time(300));
  window.yielded(seconds(1));
  EXPECT_LE(window.at_once(), kYieldsPerChange * Time(300));
}

TEST(Window, LearnsNothingFromAWaitThatDidNotPoll) {
  Window window;
  const SleepCost sleep = sleeps_of(microseconds(30));
  const int yields = polled(window, sleep, microseconds(1)).yields;
  window.slept({}, seconds(1), sleep);
  EXPECT_EQ(polled(window, sleep, microseconds(1)).yields, yields);
}

}  // namespace
}  // namespace unisono::wait
