// What one rank has found out, all act on from the same step on.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <optional>
#include <thread>

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

/// Whether the call of that number has begun together; nothing where nobody begins it so.
std::optional<bool> begun(SharedFlags& flags, std::uint64_t number) try {
  constexpr CallWord kAny = 1;
  flags.begin_call(kAny, number);
  return true;
} catch (const CallsEnded& ended) {
  return ended.begun ? std::optional(false) : std::nullopt;
}

TEST(Ending, IsBehindWhatTheRankAheadHasBegun) {
  TeamMemory arena;
  SharedFlags::prepare(arena.bytes.data(), 2);
  SharedFlags finds(arena.bytes.data(), 0, 2, {}), ahead(arena.bytes.data(), 1, 2, {});
  EXPECT_EQ(begun(finds, 3), true);
  for (const std::uint64_t number : {3, 4, 6}) EXPECT_EQ(begun(ahead, number), true);
  EXPECT_EQ(finds.end_calls(), 7U);
  EXPECT_EQ(begun(finds, 4), false);
  EXPECT_EQ(begun(finds, 6), false);
  EXPECT_EQ(begun(finds, 7), std::nullopt);
  EXPECT_EQ(begun(ahead, 7), std::nullopt);
  EXPECT_EQ(ahead.end_calls(), 7U);
}

// Whichever comes first, the call's begin or the end: both ranks see it alike.
TEST(Ending, IsOneForRanksThatDoNotWaitForEachOther) {
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    TeamMemory arena;
    SharedFlags::prepare(arena.bytes.data(), 2);
    SharedFlags finds(arena.bytes.data(), 0, 2, {}), ahead(arena.bytes.data(), 1, 2, {});
    std::atomic<std::uint64_t> begun_last = 0;
    std::thread other([&] {
      while (begun(ahead, begun_last + 1) == true) ++begun_last;
    });
    while (begun_last == 0) std::this_thread::yield();
    const std::uint64_t first = finds.end_calls();
    other.join();
    EXPECT_GE(first, begun_last + 1);
    EXPECT_LE(first, begun_last + 2);  // a call that saw the end when it had said that it began
  }
}

}  // namespace
}  // namespace unisono::node
