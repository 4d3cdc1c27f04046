#include "node/pool.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/node/calls.h"

namespace unisono::node {
namespace {

/// A pool of so many units, the map included.
class PoolTest : public testing::Test {
 protected:
  void make(std::size_t units) {
    bytes_ = units * Pool::kUnit;
    void* memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    memory_ = static_cast<std::byte*>(memory);
    Pool::prepare(span());
  }
  void TearDown() override { munmap(memory_, bytes_); }
  std::span<std::byte> span() const { return {memory_, bytes_}; }

  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

TEST_F(PoolTest, GivesWhatItHasAndNoMore) {
  make(6);
  Pool pool(span());
  std::vector<Arena> arenas;
  while (const auto arena = pool.take(1)) arenas.push_back(*arena);
  ASSERT_EQ(arenas.size(), 5U);
  for (std::size_t i = 0; i < arenas.size(); ++i) {
    EXPECT_EQ(arenas[i].offset, (i + 1) * Pool::kUnit);
    EXPECT_EQ(arenas[i].bytes, Pool::kUnit);
    EXPECT_EQ(pool.memory(arenas[i]).data(), memory_ + arenas[i].offset);
  }
  pool.give_back(arenas[2]);
  const auto again = pool.take(Pool::kUnit);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->offset, arenas[2].offset);
  EXPECT_FALSE(pool.take(1));
}

TEST_F(PoolTest, RoundsUpToPowersOfTwo) {
  make(200);
  Pool pool(span());
  const auto small = pool.take(3 * Pool::kUnit), large = pool.take(Pool::kLargestArena);
  ASSERT_TRUE(small && large);
  EXPECT_EQ(small->bytes, 4 * Pool::kUnit);
  EXPECT_EQ(large->bytes, Pool::kLargestArena);
  EXPECT_TRUE(pool.take(Pool::kLargestArena));
  EXPECT_FALSE(pool.take(Pool::kLargestArena)) << "the last word of the map is not whole";
  EXPECT_FALSE(pool.take(Pool::kLargestArena + 1));
  EXPECT_TRUE(pool.take(8 * Pool::kUnit)) << "of its eight units";
}

TEST_F(PoolTest, ThousandsOfCommunicatorsComeAndGo) {
  make(65);
  Pool pool(span());
  for (int i = 0; i < 5000; ++i) {
    const auto arena = pool.take(100'000);
    ASSERT_TRUE(arena);
    pool.give_back(*arena);
  }
}

/// Every arena is written with its owner's mark, and must still bear it when it is given back.
TEST_F(PoolTest, NoArenaIsGivenTwice) {
  make(40);
  std::atomic<int> wrong{0}, refused{0};
  const auto work = [&](int mark) {
    Pool pool(span());
    std::vector<Arena> mine;
    for (std::uint64_t i = 0; i < 3000; ++i) {
      const std::uint64_t draw = random_word(static_cast<std::uint64_t>(mark), i);
      if (mine.size() < 6 && draw % 2 == 0) {
        const auto arena = pool.take((draw >> 8) % (8 * Pool::kUnit));
        if (!arena) ++refused;
        if (!arena) continue;
        mine.push_back(*arena);
        for (std::size_t at = 0; at < arena->bytes; at += Pool::kUnit)
          std::memcpy(pool.memory(*arena).data() + at, &mark, sizeof mark);
      } else if (!mine.empty()) {
        const Arena arena = mine.back();
        mine.pop_back();
        for (std::size_t at = 0; at < arena.bytes; at += Pool::kUnit)
          if (std::memcmp(pool.memory(arena).data() + at, &mark, sizeof mark) != 0) ++wrong;
        pool.give_back(arena);
      }
    }
    for (const Arena& arena : mine) pool.give_back(arena);
  };
  std::vector<std::thread> threads;
  for (int mark = 1; mark <= 4; ++mark) threads.emplace_back(work, mark);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(refused, 0);
  Pool pool(span());
  for (int unit = 1; unit < 40; ++unit) EXPECT_TRUE(pool.take(1)) << "lost a unit";
}

}  // namespace
}  // namespace unisono::node
