// Counted, not timed: who waits long lets the rest of the program go on.
#include "node/wait.h"

#include <gtest/gtest.h>

#include <functional>

#include "node/memory.h"

namespace unisono::node {
namespace {

class Idle : public testing::Test {
 protected:
  WaitPolicy policy(WaitMode mode) {
    return {mode,
            [](void* context) {
              Idle& test = *static_cast<Idle*>(context);
              ++test.calls_;
              test.then_();
            },
            this};
  }
  /// How often the hook is called in so many looks.
  int calls_in(SharedMemory::Pause& pause, int looks) {
    const int before = calls_;
    for (int i = 0; i < looks; ++i) EXPECT_TRUE(pause.look_again(word_, 0));
    return calls_ - before;
  }

  SharedMemory::Word word_{0}, sleepers_{0};
  int calls_ = 0;
  std::function<void()> then_ = [] {};
};

class IdleInEachMode : public Idle, public testing::WithParamInterface<WaitMode> {};

/// The word may change only because the hook let a message go.
TEST_P(IdleInEachMode, IsCalledUntilTheWaitEnds) {
  then_ = [this] {
    if (calls_ == 5) word_ = 1;
  };
  EXPECT_EQ(wait_until<SharedMemory>(word_, 1, sleepers_, policy(GetParam())), 1U);
  EXPECT_EQ(calls_, 5);
  EXPECT_EQ(sleepers_.load(), 0U);
}

TEST_P(IdleInEachMode, IsNotCalledWhenThereIsNothingToWaitFor) {
  word_ = 3;
  EXPECT_EQ(wait_until<SharedMemory>(word_, 2, sleepers_, policy(GetParam())), 3U);
  EXPECT_EQ(calls_, 0);
}

INSTANTIATE_TEST_SUITE_P(, IdleInEachMode,
                         testing::Values(WaitMode::spin, WaitMode::yield, WaitMode::sleep));

TEST_F(Idle, LeavesEagerLooksAlone) {
  const WaitPolicy spin = policy(WaitMode::spin);
  SharedMemory::Pause pause(spin);
  EXPECT_EQ(calls_in(pause, 1000), 0);
  const int calls = calls_in(pause, 8900);
  EXPECT_GE(calls, 135);
  EXPECT_LE(calls, 560);
  while (calls_in(pause, 1000) < 55) continue;  // until it yields
}

TEST_F(Idle, ComesBetweenYields) {
  const WaitPolicy yield = policy(WaitMode::yield);
  SharedMemory::Pause pause(yield);
  EXPECT_EQ(calls_in(pause, 8), 0);
  EXPECT_NEAR(calls_in(pause, 992), 62, 5);
}

TEST_F(Idle, ComesBeforeTheFirstSleepAndWhenNobodyEndedOne) {
  const WaitPolicy sleep = policy(WaitMode::sleep);
  SharedMemory::Pause pause(sleep);
  int before = 0;  // it may come between yields, too
  while (pause.look_again(word_, 0)) before = calls_;
  EXPECT_EQ(calls_, before + 1);
  word_ = 1;
  pause.sleep(word_, 0);  // it has changed meanwhile
  EXPECT_EQ(calls_, before + 1);
  pause.sleep(word_, 1);
  EXPECT_EQ(calls_, before + 2);
}

}  // namespace
}  // namespace unisono::node
