// Every kernel with threads as ranks: sizes around the borders of cells, slots and rings, all
// roots.
#include "node/kernels.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/node/calls.h"
#include "tests/node/other_lengths.h"
#include "tests/node/ranks.h"
#include "tests/thorough.h"

namespace unisono::node {
namespace {

constexpr std::size_t kSmallSlot = 256;

/// Elements or bytes: what lies around a cell, a slot and the whole ring of slots.
std::vector<std::size_t> border_counts(What what, int size) {
  if (what == What::barrier) return {0, 0, 0};
  const std::size_t unit = reduces(what) ? kElementBytes : 1;
  const std::size_t p = static_cast<std::size_t>(size);
  std::vector<std::size_t> counts = {0, 1, 3};
  for (const std::size_t bytes : {kInline, kInline / p, kSmallSlot, kSmallSlot / p})
    for (const std::size_t near : {bytes - unit, bytes, bytes + unit})
      counts.push_back(near / unit);
  counts.push_back((Slots::kUsual * kSmallSlot + 2 * unit) / unit);
  counts.push_back(11 * kSmallSlot / unit + 1);
  return counts;
}

std::vector<Call> border_calls(What what, int size) {
  std::vector<Call> calls;
  const bool rooted = what == What::bcast || what == What::gather || what == What::scatter ||
                      what == What::gatherv || what == What::scatterv || what == What::reduce;
  const int kinds = is_irregular(what) ? 8 : 1;  // by the seed
  for (const std::size_t count : border_counts(what, size))
    for (int root = 0; root < (rooted ? size : 1); ++root)
      for (const bool in_place : {false, true})
        for (const bool own : {false, true})
          for (int kind = 0; kind < (reduces(what) || !own ? kinds : 0); ++kind)
            calls.push_back({what, count, root, in_place, own, calls.size()});
  return calls;
}

std::vector<What> all_whats() {
  std::vector<What> whats;
  for (int what = 0; what < kWhats; ++what) whats.push_back(static_cast<What>(what));
  return whats;
}

class Kernels : public testing::TestWithParam<std::tuple<What, WaitMode, std::size_t>> {};

TEST_P(Kernels, AreRightAtAllBorders) {
  const auto [what, mode, direct_from] = GetParam();
  for (int size = 1; size <= 8; size += size < 5 || is_thorough() ? 1 : 3) {
    const std::vector<Call> calls = border_calls(what, size);
    const auto all_calls = [&calls](Team& team) -> std::string {
      for (const Call& call : calls)
        if (std::string wrong = run_and_check(team, call); !wrong.empty()) return wrong;
      return "";
    };
    EXPECT_EQ("", on_threads(size, kSmallSlot, mode, all_calls, all_direct_from(direct_from)));
  }
}

INSTANTIATE_TEST_SUITE_P(, Kernels,
                         testing::Combine(testing::ValuesIn(all_whats()),
                                          testing::Values(WaitMode::yield, WaitMode::sleep),
                                          testing::Values(DirectFrom::kNever, kSmallSlot, 20)));

class Stores : public testing::TestWithParam<What> {};

TEST_P(Stores, PastTheCachesAreRightAtAllBorders) {
  for (const int size : {2, 3, 6}) {
    const std::vector<Call> calls = border_calls(GetParam(), size);
    const auto all_calls = [&calls](Team& team) -> std::string {
      for (const Call& call : calls)
        if (std::string wrong = run_and_check(team, call); !wrong.empty()) return wrong;
      return "";
    };
    EXPECT_EQ("", on_threads(size, kSmallSlot, WaitMode::yield, all_calls, {},
                             {Slots::kLeast, Store::nontemporal}));
  }
}

INSTANTIATE_TEST_SUITE_P(, Stores, testing::ValuesIn(all_whats()));

class LongMessages : public testing::TestWithParam<std::tuple<int, std::size_t>> {};

TEST_P(LongMessages, OfMegabytes) {
  constexpr std::size_t kSlot = 32 << 10, kBytes = (3 << 20) + 40;
  const auto [size, direct_from] = GetParam();
  for (int what = 1; what < kWhats; ++what) {
    Call call{static_cast<What>(what), kBytes, size - 1, false, false, 7};
    if (reduces(call.what)) call.count = kBytes / kElementBytes;
    EXPECT_EQ("", on_threads(
                      size, kSlot, WaitMode::spin,
                      [&call](Team& team) { return run_and_check(team, call); },
                      all_direct_from(direct_from)));
  }
}

INSTANTIATE_TEST_SUITE_P(, LongMessages,
                         testing::Combine(testing::Values(2, 3, 5),
                                          testing::Values(DirectFrom::kNever, 1)));

/// More than a table in a cell has room for; with addresses, or without room for them.
TEST(ManyRanks, HaveEqualPartsOfASlot) {
  const auto calls = [](Team& team) -> std::string {
    for (std::uint64_t i = 0; i < 30; ++i)
      for (const What what : {What::alltoallv, What::scatterv, What::gatherv}) {
        const Call call{what, i % 3 * 35, 49, i % 2 == 1, false, i};
        if (std::string wrong = run_and_check(team, call); !wrong.empty()) return wrong;
      }
    return "";
  };
  EXPECT_EQ("", on_threads(50, 1024, WaitMode::sleep, calls));
  EXPECT_EQ("", on_threads(50, 1024, WaitMode::sleep, calls, all_direct_from(30)));
  EXPECT_EQ("", on_threads(50, 128, WaitMode::sleep, calls, all_direct_from(30)));
}

class OtherLengths : public Kernels {};

/// A block may be shorter than its receiver expects; the receiver of a longer one is told.
TEST_P(OtherLengths, AreFound) {
  const auto [what, mode, direct_from] = GetParam();
  for (const int size : {2, 3, 5}) {
    const auto calls = [&](Team& team) -> std::string {
      int told = 0;
      for (std::uint64_t i = 0; i < 400; ++i) {
        const std::size_t count = random_word(i, 1) % 3 == 0 ? 20 : 3000;
        Call call{what, count, static_cast<int>(i) % team.size(), false, false, i};
        bool truncated = false;
        if (std::string wrong = run_with_other_lengths(team, call, truncated); !wrong.empty())
          return wrong;
        told += truncated ? 1 : 0;
        if (std::string wrong = run_and_check(team, call); !wrong.empty()) return wrong;
      }
      return told > 10 ? "" : "told only " + std::to_string(told) + " times";
    };
    EXPECT_EQ("", on_threads(size, kSmallSlot, mode, calls, all_direct_from(direct_from)));
  }
}

INSTANTIATE_TEST_SUITE_P(, OtherLengths,
                         testing::Combine(testing::Values(What::gatherv, What::scatterv,
                                                          What::alltoallv),
                                          testing::Values(WaitMode::yield, WaitMode::sleep),
                                          testing::Values(DirectFrom::kNever, kSmallSlot, 20)));

/// Who sends nothing may give the same address for both buffers, and all others none.
TEST(Alltoallv, IsNotInPlaceByChance) {
  const auto call = [](Team& team) -> std::string {
    const bool sends = team.rank() == 0;
    std::vector<std::byte> data(300, std::byte{static_cast<unsigned char>(sends ? 7 : 1)});
    const std::vector<std::int64_t> none(3), all{0, 300, 0};
    const PerRank counts = sends ? PerRank(all) : PerRank(none);
    const std::vector<std::int64_t> received{team.rank() == 1 ? 300 : 0, 0, 0};
    std::byte* buffer = team.rank() == 2 ? nullptr : data.data();
    alltoallv(team, buffer, counts, none, buffer, received, none);
    const std::byte expected{static_cast<unsigned char>(team.rank() == 2 ? 1 : 7)};
    return data == std::vector<std::byte>(300, expected) ? "" : "wrong bytes";
  };
  for (const std::size_t direct_from : {DirectFrom::kNever, std::size_t{100}})
    EXPECT_EQ("", on_threads(3, kSmallSlot, WaitMode::yield, call, all_direct_from(direct_from)));
}

class Mixed : public testing::TestWithParam<std::tuple<int, WaitMode, std::size_t>> {};

/// Back to back, so that cells, slots and gates wrap between different collectives.
TEST_P(Mixed, CallsInRandomOrder) {
  const auto [size, mode, direct_from] = GetParam();
  const auto random_calls = [](Team& team) -> std::string {
    for (std::uint64_t i = 0; i < 600; ++i) {
      const Call call = random_call(i, team.size(), 4000);
      if (std::string wrong = run_and_check(team, call); !wrong.empty()) return wrong;
    }
    return "";
  };
  EXPECT_EQ("", on_threads(size, 512, mode, random_calls, all_direct_from(direct_from)));
}

/// Rings that hold four slots or very many, which are written through the caches or past them.
TEST_P(Mixed, CallsThroughAnySlots) {
  const auto [size, mode, direct_from] = GetParam();
  const auto random_calls = [](Team& team) -> std::string {
    for (std::uint64_t i = 0; i < 300; ++i) {
      const Call call = random_call(i, team.size(), 4000);
      if (std::string wrong = run_and_check(team, call); !wrong.empty()) return wrong;
    }
    return "";
  };
  for (const std::size_t count : {Slots::kLeast, std::size_t{300}})
    for (const Store store : {Store::plain, Store::nontemporal})
      EXPECT_EQ("", on_threads(size, 512, mode, random_calls, all_direct_from(direct_from),
                               {count, store}));
}

/// Nothing between the calls: the ranks drift as far apart as they may.
TEST_P(Mixed, RootRunsAhead) {
  const int size = std::get<0>(GetParam());
  const WaitMode mode = std::get<1>(GetParam());
  const auto bcasts = [](Team& team) -> std::string {
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      std::uint64_t value = team.rank() == 0 ? i : 0;
      bcast(team, reinterpret_cast<std::byte*>(&value), sizeof value, 0);
      if (value != i) return "bcast " + std::to_string(i);
    }
    return "";
  };
  EXPECT_EQ("", on_threads(size, 512, mode, bcasts));
}

/// Every length directly, some lengths, none.
INSTANTIATE_TEST_SUITE_P(, Mixed,
                         testing::Values(std::tuple{2, WaitMode::spin, DirectFrom::kNever},
                                         std::tuple{2, WaitMode::spin, 1},
                                         std::tuple{2, WaitMode::sleep, 200},
                                         std::tuple{3, WaitMode::yield, DirectFrom::kNever},
                                         std::tuple{3, WaitMode::yield, 1},
                                         std::tuple{5, WaitMode::sleep, DirectFrom::kNever},
                                         std::tuple{5, WaitMode::sleep, 1},
                                         std::tuple{8, WaitMode::yield, 200},
                                         std::tuple{8, WaitMode::sleep, DirectFrom::kNever},
                                         std::tuple{8, WaitMode::sleep, 200}));

TEST(TeamArena, HoldsElementsUpToAPartOfASlot) {
  TestArena<Team> arena(4, Slots::kUsual * 256);
  Team team(arena.memory(), 0, 4, {});
  EXPECT_EQ(team.slot_bytes(), 256U);
  EXPECT_TRUE(can_reduce(team, 64));
  EXPECT_FALSE(can_reduce(team, 65));
  EXPECT_FALSE(can_reduce(team, 0));
}

TEST(TeamArena, IsFreeWhenTheLastHasLeft) {
  TestArena<Team> arena(2, Slots::kUsual * 128);
  Team first(arena.memory(), 0, 2, {}), second(arena.memory(), 1, 2, {});
  EXPECT_FALSE(second.leave());
  EXPECT_TRUE(first.leave());
}

}  // namespace
}  // namespace unisono::node
