#include "base/wait_mode.h"

#include <gtest/gtest.h>

namespace unisono {
namespace {

TEST(WaitMode, NobodySpinsWhereThereMayBeMoreThreadsThanCores) {
  EXPECT_EQ(automatic_wait(false, false), WaitMode::spin);
  EXPECT_EQ(automatic_wait(false, true), WaitMode::yield);
  EXPECT_EQ(automatic_wait(true, false), WaitMode::sleep);
  EXPECT_EQ(automatic_wait(true, true), WaitMode::sleep);
}

}  // namespace
}  // namespace unisono
