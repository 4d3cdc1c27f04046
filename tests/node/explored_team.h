// A team over explored memory, and what the tests of its protocol share.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "node/pipeline.h"
#include "node/team.h"
#include "tests/node/explorer.h"

namespace unisono::node {

// They do not know that a rank has a stack of its own, and there is one thread only.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kRuns = false;
#else
constexpr bool kRuns = true;
#endif

/// One team over the explored memory, and what its ranks do.
template <Flaw kFlaw, Rings kRings = Rings{}>
class World {
 public:
  using Memory = Explored<kFlaw, kRings>;
  using Team = BasicTeam<Memory>;
  using Word = typename Memory::Word;

  World(Groups groups, WaitMode mode, Store store = Store::plain)
      : groups_(std::move(groups)), policy_{mode}, slots_{0, kSlotBytes, store} {
    arena_.resize(Team::arena_bytes(groups_, Memory::kUses * kSlotBytes) / kLinePair);
  }

  template <class Body>
  Explorer::Outcome explore(Body body, bool store_buffers = false) {
    Explorer explorer(store_buffers);
    return explorer.explore(
        groups_.size(),
        [this] {
          std::fill(arena_.begin(), arena_.end(), Unit{});
          Team::prepare(memory().data(), groups_);
          teams_.clear();
          for (auto& stores : Memory::streamed) stores.clear();
          for (int rank = 0; rank < groups_.size(); ++rank)
            teams_.push_back(std::make_unique<Team>(memory(), rank, groups_, policy_, slots_));
        },
        [this, body](int rank) { body(*teams_[static_cast<std::size_t>(rank)]); });
  }

  /// A message of one word, longer than what goes inline.
  static constexpr std::size_t kSlotBytes = kLinePair;

 private:
  struct alignas(kLinePair) Unit {
    std::array<std::byte, kLinePair> bytes{};
  };
  std::span<std::byte> memory() {
    return {reinterpret_cast<std::byte*>(arena_.data()), arena_.size() * sizeof(Unit)};
  }

  Groups groups_;
  WaitPolicy policy_;
  Slots slots_;
  // Not on the ranks' stacks: a rank that is not run to its end destroys nothing.
  std::vector<std::unique_ptr<Team>> teams_;
  std::vector<Unit> arena_;
};

template <class Memory>
using WordOf = typename Memory::Word;

/// Payload is written and read in single steps too, so that a cell or slot that is written too
/// early shows as a wrong value.
template <class Memory>
void put(std::byte* where, std::uint64_t value) {
  reinterpret_cast<WordOf<Memory>*>(where)->store(value, std::memory_order_relaxed);
}
/// The same into a slot, as the team stores.
template <class Memory>
void put_slot(const BasicTeam<Memory>& team, std::byte* where, std::uint64_t value) {
  if (team.store() == Store::plain) return put<Memory>(where, value);
  Memory::streamed[static_cast<std::size_t>(team.rank())].emplace_back(
      reinterpret_cast<WordOf<Memory>*>(where), value);
}
template <class Memory>
void put_chunk(const BasicTeam<Memory>& team, bool is_inline, std::byte* where,
               std::uint64_t value) {
  return is_inline ? put<Memory>(where, value) : put_slot(team, where, value);
}
template <class Memory>
std::uint64_t get(const std::byte* where) {
  auto* word = reinterpret_cast<WordOf<Memory>*>(const_cast<std::byte*>(where));
  return word->load(std::memory_order_relaxed);
}
template <class Memory>
void check(const std::byte* where, std::uint64_t value) {
  Explorer::current->expect(get<Memory>(where) == value, "stale payload");
}

/// The value of a rank in a chunk of a call.
inline std::uint64_t value_of(int rank, std::size_t call) {
  return 1000 * (call + 1) + static_cast<std::uint64_t>(rank);
}

/// Between two calls, or two chunks, a rank is what its team is, and the place where it is.
template <class Memory>
std::uint64_t hash_of(const BasicTeam<Memory>& team, std::uint64_t hash) {
  std::array<std::uint64_t, sizeof team / 8> words;
  std::memcpy(words.data(), &team, sizeof team);
  for (const std::uint64_t word : words) hash = mixed(hash, word);
  return hash;
}
template <class Memory>
void forget_all_but(const BasicTeam<Memory>& team, std::size_t place = 0) {
  Explorer::current->forget(hash_of(team, place));
}

inline void expect_right(const Explorer::Outcome& outcome) {
  EXPECT_EQ(outcome.problem, "");
  EXPECT_TRUE(outcome.complete) << "more than " << outcome.states << " states";
  testing::Test::RecordProperty("states", std::to_string(outcome.states));
}

inline constexpr Cut kOneWord{8, 8};
inline constexpr Rings kFewSlots{8, 2};

class ExploredProtocol : public testing::TestWithParam<std::tuple<WaitMode, bool, Store>> {
 protected:
  void SetUp() override {
    if (!kRuns) GTEST_SKIP() << "not with this sanitizer";
  }
  template <Rings kRings = Rings{}, class Body>
  void expect_right_in_all(const Groups& groups, Body body) {
    const auto [mode, store_buffers, store] = GetParam();
    expect_right(World<Flaw::none, kRings>(groups, mode, store).explore(body, store_buffers));
  }
  static bool stores_are_late() { return std::get<1>(GetParam()); }
};

/// What writes no slot, so that it does not matter how slots are written: it is explored once.
class CellProtocol : public ExploredProtocol {};

inline auto with_plain_stores() {
  return testing::Combine(testing::Values(WaitMode::spin, WaitMode::sleep), testing::Bool(),
                          testing::Values(Store::plain));
}
inline auto with_all_stores() {
  return testing::Combine(testing::Values(WaitMode::spin, WaitMode::sleep), testing::Bool(),
                          testing::Values(Store::plain, Store::nontemporal));
}

}  // namespace unisono::node
