// What one rank has found out, all act on from the same step on.
#include <gtest/gtest.h>

#include <array>

#include "node/flags.h"
#include "node/memory.h"

namespace unisono::node {
namespace {

using SharedFlags = Flags<SharedMemory>;
constexpr Step kMostSteps = 300;

struct alignas(kLinePair) TeamMemory {
  std::array<std::byte, SharedFlags::bytes(2)> bytes;
};

/// The step before which this rank is retired, at `now` or later.
Step first_retired(SharedFlags& flags, Step now) {
  while (!flags.is_retired() && now < kMostSteps) {
    flags.take(1);
    ++now;
  }
  return now;
}

TEST(Retiring, BeginsAtOneStepThatNobodyHasPassed) {
  for (Step asked = 0; asked < kMostSteps / 2; ++asked)
    for (Step lead = 0; lead < SharedMemory::kCells; ++lead) {
      TeamMemory arena;
      SharedFlags::prepare(arena.bytes.data(), 2);
      SharedFlags asks(arena.bytes.data(), 0, 2, {}), ahead(arena.bytes.data(), 1, 2, {});
      asks.take(asked);
      ahead.take(asked + lead);
      EXPECT_FALSE(ahead.is_retired());  // so that it runs the call that begins here
      asks.ask_to_retire();
      const Step first = first_retired(asks, asked);
      EXPECT_EQ(first_retired(ahead, asked + lead), first) << asked << " " << lead;
      EXPECT_GT(first, asked + lead);
      EXPECT_LT(first, kMostSteps);
    }
}

}  // namespace
}  // namespace unisono::node
