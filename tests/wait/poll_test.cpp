// Counted, not timed.
#include "wait/poll.h"

#include <gtest/gtest.h>

#include <thread>

namespace unisono::wait {
namespace {

/// In a thread of its own, where nothing is known of sleeps.
template <class Test>
void anew(Test test) {
  std::thread(test).join();
}

TEST(Poll, EndsInSleepAndStaysThere) {
  anew([] {
    Window window;
    Poll poll(window);
    int looks = 0;
    while (poll.look_again() != Poll::Next::sleep) ++looks;
    EXPECT_GT(looks, 0);
    EXPECT_EQ(poll.look_again(), Poll::Next::sleep);
  });
}

TEST(Poll, BeginsAnewWhenTheWaitIsOver) {
  anew([] {
    Window window;
    Poll poll(window);
    while (poll.look_again() != Poll::Next::sleep) continue;
    poll.end();
    EXPECT_NE(poll.look_again(), Poll::Next::sleep);
  });
}

TEST(Poll, YieldsAsOftenAsIsFixed) {
  anew([] {
    constexpr int kFixed = 7, kLearned = -1;
    fix_yields(kFixed);
    Window window;
    Poll poll(window);
    for (int i = 0; i < kFixed; ++i) EXPECT_EQ(poll.look_again(), Poll::Next::look);
    EXPECT_EQ(poll.look_again(), Poll::Next::sleep);
    poll.end();
    EXPECT_EQ(poll.look_again(), Poll::Next::look);
    fix_yields(kLearned);
  });
}

TEST(Sleep, IsShortUntilItsCostIsKnown) {
  anew([] {
    const Sleep first(std::chrono::seconds(2));
    EXPECT_TRUE(first.is_first());
    EXPECT_EQ(first.limit().tv_sec, 0);
    sleep_cost().overran(std::chrono::microseconds(30));
    const Sleep second(std::chrono::milliseconds(2500));
    EXPECT_FALSE(second.is_first());
    EXPECT_EQ(second.limit().tv_sec, 2);
    EXPECT_EQ(second.limit().tv_nsec, 500'000'000);
  });
}

TEST(Sleep, TellsWhatItCost) {
  anew([] {
    for (int i = 0; i < 1000 && !sleep_cost().is_known(); ++i) {
      Sleep one(std::chrono::seconds(1));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      one.nobody_ended_it();
    }
    EXPECT_TRUE(sleep_cost().is_known());
  });
}

}  // namespace
}  // namespace unisono::wait
