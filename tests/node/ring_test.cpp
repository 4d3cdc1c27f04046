// Which part of the ring a chunk takes, and how streamed copies come out.
#include "node/ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "node/copy.h"
#include "node/pool.h"
#include "node/team.h"
#include "node/tuning.h"

namespace unisono::node {
namespace {

using SmallRing = Ring<16>;

TEST(Ring, GivesAChunkAsMuchAsItIsLong) {
  SmallRing ring(16 * kLinePair);
  EXPECT_EQ(ring.take(1, 0).offset, 0U);
  EXPECT_EQ(ring.take(3 * kLinePair, 1).offset, kLinePair);
  EXPECT_EQ(ring.take(kLinePair + 1, 2).offset, 4 * kLinePair);
  EXPECT_EQ(ring.take(kLinePair, 3).offset, 6 * kLinePair);
}

/// So that a short chunk is not written again before all of the ring has been.
TEST(Ring, IsGoneRoundWhateverTheLength) {
  for (const std::size_t bytes : {std::size_t{100}, 2 * kLinePair, 4 * kLinePair}) {
    SmallRing ring(16 * kLinePair);
    const std::size_t grains = (bytes + kLinePair - 1) / kLinePair;
    for (std::size_t i = 0; i < 16 / grains; ++i)
      EXPECT_EQ(ring.take(bytes, i).offset, i * grains * kLinePair);
    EXPECT_EQ(ring.take(bytes, 100).offset, 0U);
  }
}

TEST(Ring, IsFreeWhenNobodyLooksAtAnyPart) {
  SmallRing ring(16 * kLinePair);
  EXPECT_EQ(ring.take(6 * kLinePair, 4).free_at, 0U);
  EXPECT_EQ(ring.take(6 * kLinePair, 7).free_at, 0U);
  const SlotUse again = ring.take(6 * kLinePair, 9);  // four at the end are left out
  EXPECT_EQ(again.offset, 0U);
  EXPECT_EQ(again.free_at, 5U);
  EXPECT_EQ(ring.take(10 * kLinePair, 12).free_at, 8U);  // the four were never busy
}

/// More chunks than are remembered: what is forgotten waits for more than it must, never for less.
TEST(Ring, ForgetsNoChunkThatMayBeLookedAt) {
  Ring<4> ring(64 * kLinePair);
  for (Step step = 0; step < 300; ++step) {
    const Step free_at = ring.take(kLinePair, step).free_at;
    EXPECT_GE(free_at, step < 64 ? 0 : step - 63);
    EXPECT_LE(free_at, step < 4 ? 0 : step - 3);
  }
}

/// What has been read of it before does not count; who still reads is waited for.
TEST(Ring, BeginsAgainWhenNobodyLooksAtWhatWasThere) {
  SmallRing ring(8 * kLinePair);
  for (Step step = 0; step < 20; ++step) ring.take(3 * kLinePair, step);
  ring.restart(16 * kLinePair, 20);
  EXPECT_EQ(ring.bytes(), 16 * kLinePair);
  for (std::size_t i = 0; i < 16; ++i) {
    const SlotUse use = ring.take(kLinePair, 20 + i);
    EXPECT_EQ(use.offset, i * kLinePair);
    EXPECT_EQ(use.free_at, 20U);
  }
  EXPECT_EQ(ring.take(kLinePair, 40).free_at, 21U);
}

/// Slices have three rounds of slots under way: none overlaps another, wherever the first begins.
TEST(Ring, OfTheLeastSlotsHasRoomForThreeRounds) {
  constexpr std::size_t kSlot = 4;
  for (std::size_t begin = 0; begin < 16; ++begin) {
    SmallRing ring(Slots::kLeast * kSlot * kLinePair);
    for (std::size_t i = 0; i < begin; ++i) ring.take(kLinePair, 0);
    for (Step step = 100; step < 110; ++step)
      EXPECT_LT(ring.take(kSlot * kLinePair, step).free_at, step - 1) << begin;
  }
}

TEST(PreferredRing, IsLongerThanTheCacheAndFitsIntoAnArena) {
  constexpr std::size_t kMiB = 1 << 20;
  EXPECT_GT(preferred_ring(2, kMiB), kMiB);
  for (const std::size_t cache : {std::size_t{0}, kMiB, 500 * kMiB})
    for (const int size : {2, 3, 16, 100})
      EXPECT_LE(Team::arena_bytes(size, preferred_ring(size, cache)), Pool::kLargestArena);
}

TEST(StreamedCopy, IsACopyAtAnyAddress) {
  std::vector<std::byte> from(700), to(800);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = std::byte(i * 7 + 1);
  for (std::size_t begin = 0; begin < 70; begin += 3)
    for (const std::size_t bytes : {0UL, 1UL, 63UL, 64UL, 65UL, 200UL, 600UL}) {
      std::fill(to.begin(), to.end(), std::byte{0});
      stream_bytes(to.data() + begin, from.data() + begin % 5, bytes);
      fence_streams();
      std::vector<std::byte> expected(to.size());
      std::copy_n(from.begin() + static_cast<long>(begin % 5), bytes,
                  expected.begin() + static_cast<long>(begin));
      ASSERT_EQ(to, expected) << begin << ' ' << bytes;
    }
}

}  // namespace
}  // namespace unisono::node
