// A rank whose process has windows does not sleep while it waits, and lets the MPI library go on.
#include "wait/awake.h"

#include <gtest/gtest.h>

#include "node/memory.h"

namespace unisono::node {
namespace {

constexpr int kLooks = 1000;

struct Waited {
  int looks = 0;  ///< until the rank was to sleep, or all
  int turns = 0;  ///< of the MPI library
};

Waited waited(WaitMode mode) {
  Waited result;
  const WaitPolicy policy{mode, [](void* context) { ++*static_cast<int*>(context); },
                          &result.turns};
  SharedMemory::Pause pause(policy);
  const SharedMemory::Word word{0};
  while (result.looks < kLooks && pause.look_again(word, 0)) ++result.looks;
  return result;
}

TEST(Awake, RanksThatShareCoresStayAwakeForWindows) {
  for (const WaitMode mode : {WaitMode::sleep, WaitMode::yield}) {
    wait::stay_awake(1);
    const Waited result = waited(mode);
    wait::stay_awake(-1);
    EXPECT_EQ(result.looks, kLooks);
    EXPECT_EQ(result.turns, kLooks);
  }
}

TEST(Awake, AndSleepAgainWhenThereAreNone) { EXPECT_LT(waited(WaitMode::sleep).looks, kLooks); }

}  // namespace
}  // namespace unisono::node
