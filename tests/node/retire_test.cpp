// What one rank has found out, all act on from the same step on.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
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

constexpr CallWord kAny = 1;

bool begins(SharedFlags& flags, std::uint64_t number) try {
  flags.begin_call(kAny, number);
  return true;
} catch (const CallsEnded&) {
  return false;
}

std::uint64_t end(SharedFlags& flags, bool failed) {
  return flags.end_calls(failed, [] { std::this_thread::yield(); });
}

TEST(Ending, IsBehindWhatTheRankAheadHasCompleted) {
  TeamMemory arena;
  SharedFlags::prepare(arena.bytes.data(), 2);
  SharedFlags finds(arena.bytes.data(), 0, 2, {}), ahead(arena.bytes.data(), 1, 2, {});
  EXPECT_TRUE(begins(finds, 3));
  for (const std::uint64_t number : {3, 4, 6}) {
    EXPECT_TRUE(begins(ahead, number));
    ahead.end_call();
  }
  EXPECT_EQ(end(finds, true), 7U);
  EXPECT_FALSE(begins(finds, 4));
  EXPECT_FALSE(begins(ahead, 7));
  EXPECT_EQ(end(ahead, false), 7U);
}

TEST(Ending, IsAtACallThatARankWaitsIn) {
  TeamMemory arena;
  SharedFlags::prepare(arena.bytes.data(), 2);
  SharedFlags finds(arena.bytes.data(), 0, 2, {}), waits(arena.bytes.data(), 1, 2, {});
  EXPECT_TRUE(begins(finds, 3));
  EXPECT_TRUE(begins(waits, 3));
  waits.end_call();
  EXPECT_TRUE(begins(waits, 5));
  std::uint64_t found = 0;
  std::thread other([&] { found = end(finds, true); });
  const std::uint64_t number = 5;
  while (true) {
    try {
      waits.look_for_difference(&number);
    } catch (const CallsEnded& ended) {
      EXPECT_TRUE(ended.inside);
      break;
    }
    std::this_thread::yield();
  }
  EXPECT_EQ(end(waits, false), 5U);  // both make it elsewhere
  other.join();
  EXPECT_EQ(found, 5U);
}

// Whichever comes first, the call's begin or the end: both ranks see it alike.
TEST(Ending, IsOneForRanksThatDoNotWaitForEachOther) {
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    TeamMemory arena;
    SharedFlags::prepare(arena.bytes.data(), 2);
    SharedFlags finds(arena.bytes.data(), 0, 2, {}), ahead(arena.bytes.data(), 1, 2, {});
    std::atomic<std::uint64_t> completed = 0;
    std::uint64_t seen = 0;
    std::thread other([&] {
      while (begins(ahead, completed + 1)) {
        ahead.end_call();
        ++completed;
      }
      seen = end(ahead, false);
    });
    while (completed == 0) std::this_thread::yield();
    const std::uint64_t first = end(finds, false);
    other.join();
    EXPECT_EQ(first, completed + 1);
    EXPECT_EQ(seen, first);
  }
}

}  // namespace
}  // namespace unisono::node
