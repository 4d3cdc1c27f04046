// Short messages in two levels, with threads as ranks; and the lines that ranks read, counted.
#include "node/levels.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/node/calls.h"
#include "tests/node/ranks.h"

namespace unisono::node {
namespace {

constexpr std::size_t kSlot = 512;

std::vector<int> in_turn(int size, int domains) {
  std::vector<int> domain_of;
  for (int rank = 0; rank < size; ++rank) domain_of.push_back(rank % domains);
  return domain_of;
}

class TwoLevels : public testing::TestWithParam<std::tuple<Groups, WaitMode>> {};

/// Around what goes through cells and bundles; roots that lead their groups and that do not.
TEST_P(TwoLevels, AreRightAtAllBorders) {
  const auto& [groups, mode] = GetParam();
  std::vector<Call> calls;
  for (const What what : {What::barrier, What::bcast, What::gather, What::reduce, What::allreduce})
    for (const std::size_t bytes : {8UL, 32UL, 40UL, kInline, kInline + 8})
      for (const int root : {0, groups.size() / 2, groups.size() - 1})
        for (const bool own : {false, true})
          calls.push_back({what, reduces(what) ? bytes / kElementBytes : bytes - (own ? 1 : 0),
                           root, calls.size() % 3 == 1, own, calls.size()});
  const auto all_calls = [&calls](Team& team) -> std::string {
    if (team.levels() == nullptr) return "one level";
    for (const Call& call : calls)
      if (std::string wrong = run_and_check(team, call); !wrong.empty()) return wrong;
    return "";
  };
  EXPECT_EQ("", on_threads(groups, kSlot, mode, all_calls));
}

/// Two levels and one, back to back: the cells of all teams wrap.
TEST_P(TwoLevels, CallsInRandomOrder) {
  const auto& [groups, mode] = GetParam();
  const auto random_calls = [](Team& team) -> std::string {
    for (std::uint64_t i = 0; i < 100; ++i) {
      const Call call = random_call(i, team.size(), 600);
      if (std::string wrong = run_and_check(team, call); !wrong.empty()) return wrong;
    }
    return "";
  };
  EXPECT_EQ("", on_threads(groups, kSlot, mode, random_calls));
}

INSTANTIATE_TEST_SUITE_P(
    , TwoLevels,
    testing::Values(std::tuple{Groups({0, 0, 1}), WaitMode::spin},
                    std::tuple{Groups({0, 1, 0, 1, 2}), WaitMode::yield},
                    std::tuple{Groups({0, 1, 1, 1, 0}), WaitMode::sleep},
                    std::tuple{suitable_groups(13, in_turn(13, 3)), WaitMode::yield},
                    std::tuple{suitable_groups(17), WaitMode::yield},
                    std::tuple{suitable_groups(23, in_turn(23, 2)), WaitMode::yield},
                    std::tuple{suitable_groups(40), WaitMode::yield},
                    std::tuple{suitable_groups(40, in_turn(40, 3)), WaitMode::sleep}));

// --- lines
// ---------------------------------------------------------

/// Which lines each rank has looked at. How often does not count: who waits looks again and again.
struct Counted : SharedMemory {
  class Word : public std::atomic<std::uint64_t> {
   public:
    using std::atomic<std::uint64_t>::atomic;
    std::uint64_t load(std::memory_order order) {
      read.insert(this);
      return std::atomic<std::uint64_t>::load(order);
    }
  };
  struct Pause {
    explicit Pause(const WaitPolicy&) {}
    bool look_again(const Word&, std::uint64_t) {
      std::this_thread::yield();
      return true;
    }
    void sleep(Word&, std::uint64_t) {}
  };
  static void wake(Word&) {}

  static inline thread_local std::set<const Word*> read;
};

/// The most lines of others that a rank reads in a call, and the most readers that one has; the
/// cells of several calls are counted once.
struct Lines {
  std::size_t of_rank = 0, readers = 0;
};

template <class Call>
Lines lines_of(const Groups& groups, Call call) {
  struct alignas(kLinePair) Unit : std::array<std::byte, kLinePair> {};
  using CountedTeam = BasicTeam<Counted>;
  std::vector<Unit> arena(CountedTeam::arena_bytes(groups, Slots::kUsual * 128) / kLinePair);
  const std::span<std::byte> memory{arena.data()->data(), arena.size() * kLinePair};
  CountedTeam::prepare(memory.data(), groups);
  Lines most;
  std::map<const void*, std::size_t> readers;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < groups.size(); ++rank)
    threads.emplace_back([&, rank] {
      CountedTeam team(memory, rank, groups, {WaitMode::yield});
      call(team);
      const std::lock_guard lock(mutex);
      most.of_rank = std::max(most.of_rank, Counted::read.size());
      for (const auto* word : Counted::read) most.readers = std::max(most.readers, ++readers[word]);
    });
  for (std::thread& thread : threads) thread.join();
  return most;
}

constexpr auto kNothing = [](auto&&...) {};

TEST(LinesRead, OfAFlatBarrierAreThoseOfAllRanks) {
  const Lines lines = lines_of(64, [](auto& team) {
    exchange(team, Cut{0, 1}, kNothing, [&](Chunk, const auto& posted) {
      for_others(team, [&](int rank) { posted.await(rank); });
    });
  });
  EXPECT_EQ(lines.of_rank, 63U);
  EXPECT_EQ(lines.readers, 63U);
}

/// A leader reads its group and the other leaders, a member its leader.
TEST(LinesRead, InTwoLevelsAreThoseOfAGroup) {
  const Lines exchanged = lines_of(suitable_groups(64), [](auto& team) {
    exchange_in_levels(*team.levels(), 0, kNothing, kNothing, kNothing, kNothing, kNothing);
  });
  EXPECT_EQ(exchanged.of_rank, 14U);
  EXPECT_EQ(exchanged.readers, 7U);
  const Lines posted = lines_of(suitable_groups(64), [](auto& team) {
    post_in_levels(*team.levels(), 0, kNothing, kNothing);
  });
  EXPECT_EQ(posted.of_rank, 1U);
  EXPECT_EQ(posted.readers, 7U);
}

/// Neither do positions add to it, which are read when cells are written again.
TEST(LinesRead, InTwoLevelsStayFewInManyCalls) {
  const Lines lines = lines_of(suitable_groups(64), [](auto& team) {
    for (int call = 0; call < 40; ++call)
      exchange_in_levels(*team.levels(), 0, kNothing, kNothing, kNothing, kNothing, kNothing);
  });
  EXPECT_EQ(lines.readers, 7U);
}

}  // namespace
}  // namespace unisono::node
