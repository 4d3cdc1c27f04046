// The protocol of src/node/flags.h and pipeline.h, in every interleaving of two or three ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "node/direct.h"
#include "node/pipeline.h"
#include "tests/node/explorer.h"

namespace unisono::node {
namespace {

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

  World(int ranks, WaitMode mode) : ranks_(ranks), policy_{mode} {
    arena_.resize(Team::arena_bytes(ranks, kSlotBytes) / kLine);
  }

  template <class Body>
  Explorer::Outcome explore(Body body, bool store_buffers = false) {
    Explorer explorer(store_buffers);
    return explorer.explore(
        ranks_,
        [this] {
          std::fill(arena_.begin(), arena_.end(), Unit{});
          Team::prepare(memory().data(), ranks_);
        },
        [this, body](int rank) {
          Team team(memory(), rank, ranks_, policy_);
          body(team);
        });
  }

  /// A message of one word, longer than what goes inline.
  static constexpr std::size_t kSlotBytes = kLine;

 private:
  struct alignas(kLine) Unit {
    std::array<std::byte, kLine> bytes{};
  };
  std::span<std::byte> memory() {
    return {reinterpret_cast<std::byte*>(arena_.data()), arena_.size() * sizeof(Unit)};
  }

  int ranks_;
  WaitPolicy policy_;
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
std::uint64_t value_of(int rank, std::size_t call) {
  return 1000 * (call + 1) + static_cast<std::uint64_t>(rank);
}

/// Between two calls, or two chunks, a rank is what its team is, and the place where it is.
template <class Memory>
void forget_all_but(const BasicTeam<Memory>& team, std::size_t place = 0) {
  std::uint64_t hash = place;
  std::array<std::uint64_t, sizeof team / 8> words;
  std::memcpy(words.data(), &team, sizeof team);
  for (const std::uint64_t word : words) hash = mixed(hash, word);
  Explorer::current->forget(hash);
}

constexpr Cut kShort{8, 8};
/// Chunks in slots, with an abstract payload: the first word of each.
Cut chunks(std::size_t count) { return {kLine * count, kLine}; }

template <class Memory>
void barriers(BasicTeam<Memory>& team, int count) {
  for (int i = 0; i < count; ++i) {
    const Step step = team.take(1);
    team.claim(step);
    team.publish_jointly(step);
    team.await_all(step);
    team.finish(step);
    forget_all_but(team);
  }
}

template <class Memory>
void posts(BasicTeam<Memory>& team, int root, const Cut& cut, std::size_t call) {
  post(
      team, root, cut,
      [&](Chunk chunk, std::byte* where) {
        forget_all_but(team, chunk.begin + 1);
        put<Memory>(where, value_of(root, call + chunk.begin));
      },
      [&](Chunk chunk, const std::byte* where) {
        forget_all_but(team, chunk.begin + 2);
        check<Memory>(where, value_of(root, call + chunk.begin));
      });
  forget_all_but(team);
}

/// `reader`: the one rank that reads, as in gather; -1: all.
template <class Memory>
void exchanges(BasicTeam<Memory>& team, const Cut& cut, std::size_t call, int reader = -1) {
  exchange(
      team, cut,
      [&](Chunk chunk, std::byte* where) {
        forget_all_but(team, chunk.begin + 1);
        put<Memory>(where, value_of(team.rank(), call + chunk.begin));
      },
      [&](Chunk chunk, const auto& posted) {
        forget_all_but(team, chunk.begin + 2);
        if (reader >= 0 && reader != team.rank()) return;
        for (int rank = 0; rank < team.size(); ++rank)
          if (rank != team.rank())
            check<Memory>(posted.await(rank), value_of(rank, call + chunk.begin));
      });
  forget_all_but(team);
}

template <class Memory>
void exchanges_twice(BasicTeam<Memory>& team, const Cut& cut) {
  constexpr std::size_t kResult = 8;  // beside what came in, which the others may still read
  const auto read = [&team](const auto& posted, std::size_t at, std::uint64_t call) {
    for (int rank = 0; rank < team.size(); ++rank)
      if (rank != team.rank()) check<Memory>(posted.await(rank) + at, value_of(rank, call));
  };
  exchange_twice(
      team, cut,
      [&](Chunk chunk, std::byte* where) {
        forget_all_but(team, chunk.begin + 1);
        put<Memory>(where, value_of(team.rank(), chunk.begin));
      },
      [&](Chunk chunk, const auto& posted) {
        forget_all_but(team, chunk.begin + 2);
        read(posted, 0, chunk.begin);
        put<Memory>(posted.of(team.rank()) + kResult, value_of(team.rank(), chunk.begin + 1));
      },
      [&](Chunk chunk, const auto& posted) {
        forget_all_but(team, chunk.begin + 3);
        read(posted, kResult, chunk.begin + 1);
      });
}

/// The root alone knows how many rounds there are.
template <class Memory>
void posts_of_rounds(BasicTeam<Memory>& team, int root, std::size_t rounds, std::size_t call) {
  post_rounds(
      team, root,
      [&](std::size_t round, const auto& posted) {
        forget_all_but(team, 2 * round + 1);
        put<Memory>(posted.cell_of(root), rounds);
        put<Memory>(posted.of(root), value_of(root, call + round));
        return rounds;
      },
      [&](std::size_t round, const auto& posted) {
        forget_all_but(team, 2 * round + 2);
        check<Memory>(posted.of(root), value_of(root, call + round));
        return get<Memory>(posted.cell_of(root));
      });
  forget_all_but(team);
}

/// Every rank has rounds of its own, which its cells say. `reader`: the one rank that waits for
/// more than the longest.
template <class Memory>
void exchanges_of_rounds(BasicTeam<Memory>& team, const std::vector<std::size_t>& rounds,
                         std::size_t call, int reader = -1) {
  const auto rounds_of = [&rounds](int rank) { return rounds[static_cast<std::size_t>(rank)]; };
  const int me = team.rank();
  const int longest =
      static_cast<int>(std::max_element(rounds.begin(), rounds.end()) - rounds.begin());
  exchange_rounds(
      team,
      [&](std::size_t round, const auto& posted) {
        forget_all_but(team, 2 * round + 1);
        put<Memory>(posted.cell_of(me), rounds_of(me));
        if (round < rounds_of(me)) put<Memory>(posted.of(me), value_of(me, call + round));
      },
      [&](const auto& posted) -> std::size_t {
        posted.await(longest);
        return get<Memory>(posted.cell_of(longest));
      },
      [&](std::size_t round, const auto& posted) {
        forget_all_but(team, 2 * round + 2);
        if (reader >= 0 && reader != me) return;
        for (int rank = 0; rank < team.size(); ++rank) {
          if (rank == me) continue;
          const std::byte* theirs = posted.await(rank);
          check<Memory>(posted.cell_of(rank), rounds_of(rank));
          if (round < rounds_of(rank)) check<Memory>(theirs, value_of(rank, call + round));
        }
      });
  forget_all_but(team);
}

/// Not its slots here but the rank's own memory, written again as soon as a call is over.
template <class Memory>
Buffers buffers_of(BasicTeam<Memory>& team) {
  return {team.slot(team.rank(), 0), team.slot(team.rank(), 1)};
}

/// Everybody pulls from everybody's input and pushes to its successor's output.
template <class Memory>
void copies_directly(BasicTeam<Memory>& team, std::size_t call) {
  const int me = team.rank(), size = team.size();
  const Buffers mine = buffers_of(team);
  put<Memory>(team.slot(me, 0), value_of(me, call));
  copy_directly(team, mine, [&](const auto& shown) {
    forget_all_but(team, 1);
    for_others(team, [&](int rank) { check<Memory>(shown(rank).input, value_of(rank, call)); });
    put<Memory>(shown((me + 1) % size).output, value_of(me, call));
  });
  check<Memory>(mine.output, value_of((me + size - 1) % size, call));
  forget_all_but(team);
}

template <class Memory>
void copies_with_root(BasicTeam<Memory>& team, int root, std::size_t call) {
  if (team.rank() == root) put<Memory>(team.slot(root, 0), value_of(root, call));
  copy_with_root(team, root, buffers_of(team), [&](const Buffers& theirs) {
    forget_all_but(team, 1);
    if (team.rank() != root) check<Memory>(theirs.input, value_of(root, call));
  });
  forget_all_but(team);
}

/// As in alltoallv: every rank posts in a round, be it where its own memory is, from which `shower`
/// has the others copy; then all are through with it.
template <class Memory>
void exchanges_addresses(BasicTeam<Memory>& team, int shower, std::size_t call) {
  const int me = team.rank();
  const bool shows = me == shower;
  std::byte* mine = team.slot(me, Memory::kSlots - 1);
  if (shows) put<Memory>(mine, value_of(me, call));
  exchange_rounds(
      team,
      [&](std::size_t, const auto& posted) {
        forget_all_but(team, 1);
        if (shows)
          std::memcpy(posted.cell_of(me), &mine, sizeof mine);
        else
          put<Memory>(posted.of(me), value_of(me, call));
      },
      [&](const auto& posted) -> std::size_t {
        posted.await(shower);
        return 1;
      },
      [&](std::size_t, const auto& posted) {
        forget_all_but(team, 2);
        for_others(team, [&](int rank) {
          const std::byte* theirs = posted.await(rank);
          if (rank == shower) std::memcpy(&theirs, posted.cell_of(rank), sizeof theirs);
          check<Memory>(theirs, value_of(rank, call));
        });
      });
  be_through(team, team.take(1), shows);
  forget_all_but(team);
}

/// As in scatterv.
template <class Memory>
void posts_address(BasicTeam<Memory>& team, int root, std::size_t call) {
  const bool is_root = team.rank() == root;
  std::byte* shown = team.slot(root, Memory::kSlots - 1);
  if (is_root) put<Memory>(shown, value_of(root, call));
  post_rounds(
      team, root,
      [&](std::size_t, const auto& posted) -> std::size_t {
        std::memcpy(posted.cell_of(root), &shown, sizeof shown);
        return 1;
      },
      [&](std::size_t, const auto& posted) -> std::size_t {
        std::memcpy(&shown, posted.cell_of(root), sizeof shown);
        check<Memory>(shown, value_of(root, call));
        return 1;
      });
  be_through(team, team.take(1), is_root);
  forget_all_but(team);
}

/// As in gatherv: the root waits for nobody before it shows where all others write.
template <class Memory>
void gathers_into_addresses(BasicTeam<Memory>& team, int root, std::size_t call) {
  const int me = team.rank();
  const bool is_root = me == root;
  const auto place_of = [&](int rank) {
    return team.slot(root, Memory::kSlots - 1) + 8 * static_cast<std::size_t>(rank);
  };
  exchange_rounds(
      team, [&](std::size_t, const auto&) { forget_all_but(team, 1); },
      [&](const auto& posted) -> std::size_t {
        posted.await(root);
        return 1;
      },
      [&](std::size_t, const auto&) {
        forget_all_but(team, 2);
        if (!is_root) put<Memory>(place_of(me), value_of(me, call));
      });
  be_through(team, team.take(1), is_root);
  if (is_root)
    for_others(team, [&](int rank) { check<Memory>(place_of(rank), value_of(rank, call)); });
  forget_all_but(team);
}

void expect_right(const Explorer::Outcome& outcome) {
  EXPECT_EQ(outcome.problem, "");
  EXPECT_TRUE(outcome.complete) << "more than " << outcome.states << " states";
  testing::Test::RecordProperty("states", std::to_string(outcome.states));
}

class Protocol : public testing::TestWithParam<std::tuple<WaitMode, bool>> {
 protected:
  void SetUp() override {
    if (!kRuns) GTEST_SKIP() << "not with this sanitizer";
  }
  template <Rings kRings = Rings{}, class Body>
  void expect_right_in_all(int ranks, Body body) {
    const auto [mode, store_buffers] = GetParam();
    expect_right(World<Flaw::none, kRings>(ranks, mode).explore(body, store_buffers));
  }
  static bool stores_are_late() { return std::get<1>(GetParam()); }
};

constexpr Rings kFewSlots{8, 2};

TEST_P(Protocol, BarriersOfTwo) {
  expect_right_in_all(2, [](auto& team) { barriers(team, 4); });
}

TEST_P(Protocol, BarriersOfThree) {
  expect_right_in_all(3, [](auto& team) { barriers(team, 2); });
}

TEST_P(Protocol, ShortMessagesFromOneRootWrapTheCells) {
  expect_right_in_all(2, [](auto& team) {
    for (std::size_t call = 0; call < 4; ++call) posts(team, 0, kShort, call);
  });
}

TEST_P(Protocol, LongMessageFromOneRootWrapsTheSlots) {
  expect_right_in_all<kFewSlots>(2, [](auto& team) { posts(team, 0, chunks(5), 0); });
}

TEST_P(Protocol, RootsTakeTurns) {
  expect_right_in_all(2, [](auto& team) {
    for (std::size_t call = 0; call < 4; ++call)
      posts(team, static_cast<int>(call % 2), kShort, call);
  });
}

TEST_P(Protocol, OneReaderAndOthersAheadOfIt) {
  expect_right_in_all(2, [](auto& team) {
    for (std::size_t call = 0; call < 4; ++call) exchanges(team, kShort, call, 0);
  });
}

TEST_P(Protocol, ReadersTakeTurnsAmongThree) {
  const std::size_t calls = stores_are_late() ? 2 : 3;  // three take half a million states
  expect_right_in_all(3, [calls](auto& team) {
    for (std::size_t call = 0; call < calls; ++call)
      exchanges(team, kShort, call, static_cast<int>(call % 3));
  });
}

TEST_P(Protocol, ExchangeInChunks) {
  expect_right_in_all(2, [](auto& team) { exchanges(team, chunks(3), 0); });
}

TEST_P(Protocol, ExchangeThroughFewSlots) {
  expect_right_in_all<kFewSlots>(2, [](auto& team) { exchanges(team, chunks(3), 0); });
}

TEST_P(Protocol, ExchangeWithAMiddle) {
  expect_right_in_all(2, [](auto& team) { exchanges_twice(team, chunks(4)); });
}

TEST_P(Protocol, ExchangeWithAMiddleThroughFewSlots) {
  expect_right_in_all<Rings{8, 3}>(2, [](auto& team) { exchanges_twice(team, chunks(4)); });
}

TEST_P(Protocol, RoundsThatOnlyTheRootKnows) {
  expect_right_in_all(2, [](auto& team) {
    posts_of_rounds(team, 0, 3, 0);
    posts_of_rounds(team, 1, 1, 100);
    posts(team, 0, kShort, 200);
  });
}

TEST_P(Protocol, RoundsThatNobodyKnowsAlone) {
  expect_right_in_all(2, [](auto& team) {
    exchanges_of_rounds(team, {1, 3}, 0);
    exchanges_of_rounds(team, {1, 0}, 100);
  });
}

/// The cells, which have said how many rounds there are, are read after the slots.
TEST_P(Protocol, RoundsBeforeManyShortMessages) {
  expect_right_in_all(2, [](auto& team) {
    exchanges_of_rounds(team, {2, 1}, 0, 1);
    for (std::size_t call = 1; call < 4; ++call) posts(team, 0, kShort, 100 * call);
  });
}

TEST_P(Protocol, RoundsOfThree) {
  expect_right_in_all(3, [](auto& team) { exchanges_of_rounds(team, {1, 2, 0}, 0, 0); });
}

TEST_P(Protocol, DirectCopiesOfTwo) {
  expect_right_in_all(2, [](auto& team) {
    for (std::size_t call = 0; call < 3; ++call) copies_directly(team, call);
  });
}

TEST_P(Protocol, DirectCopiesOfThree) {
  expect_right_in_all(3, [](auto& team) { copies_directly(team, 0); });
}

TEST_P(Protocol, DirectCopiesWithRootsInTurn) {
  expect_right_in_all(2, [](auto& team) {
    for (std::size_t call = 0; call < 4; ++call)
      copies_with_root(team, static_cast<int>(call % 2), call);
  });
}

TEST_P(Protocol, DirectCopiesWithOneRootOfThree) {
  expect_right_in_all(3, [](auto& team) { copies_with_root(team, 0, 0); });
}

TEST_P(Protocol, BlocksAndAddressesOfTwo) {
  expect_right_in_all(2, [](auto& team) {
    for (std::size_t call = 0; call < 3; ++call)
      exchanges_addresses(team, static_cast<int>(call % 2), call);
  });
}

TEST_P(Protocol, BlocksAndAddressesOfThree) {
  expect_right_in_all(3, [](auto& team) { exchanges_addresses(team, 0, 0); });
}

TEST_P(Protocol, AddressesOfRootsInTurn) {
  expect_right_in_all(2, [](auto& team) {
    for (std::size_t call = 0; call < 2; ++call) {
      posts_address(team, static_cast<int>(call), call);
      gathers_into_addresses(team, static_cast<int>(call), call);
    }
  });
}

TEST_P(Protocol, AddressesOfOneRootOfThree) {
  expect_right_in_all(3, [](auto& team) { posts_address(team, 0, 0); });
}

TEST_P(Protocol, AllKindsMixed) {
  expect_right_in_all(2, [](auto& team) {
    exchanges(team, kShort, 0);
    posts(team, 1, chunks(2), 100);
    barriers(team, 1);
    posts(team, 0, kShort, 200);
    exchanges(team, chunks(2), 300, 1);
  });
}

INSTANTIATE_TEST_SUITE_P(, Protocol,
                         testing::Combine(testing::Values(WaitMode::spin, WaitMode::sleep),
                                          testing::Bool()));

// --- the explorer must find what is wrong
// ---------------------------------------------------------

class BrokenProtocol : public testing::Test {
 protected:
  void SetUp() override {
    if (!kRuns) GTEST_SKIP() << "not with this sanitizer";
  }
  template <Flaw kFlaw>
  static std::string problem_of(int ranks, bool store_buffers) {
    const auto outcome = World<kFlaw>(ranks, WaitMode::sleep)
                             .explore([](auto& team) { barriers(team, 2); }, store_buffers);
    return outcome.problem.substr(0, outcome.problem.find(','));
  }
};

TEST_F(BrokenProtocol, WakeUpIsLostByPlainStore) {
  EXPECT_EQ(problem_of<Flaw::plain_store>(2, false), "");  // in order, it would do
  EXPECT_EQ(problem_of<Flaw::plain_store>(2, true), "deadlock");
}

TEST_F(BrokenProtocol, WakeUpIsLostWithoutRegistration) {
  EXPECT_EQ(problem_of<Flaw::no_registration>(2, false), "deadlock");
}

TEST_F(BrokenProtocol, WakeUpIsLostByBlindSleep) {
  EXPECT_EQ(problem_of<Flaw::blind_sleep>(2, false), "deadlock");
}

TEST_F(BrokenProtocol, WakeUpOfOneIsNotEnough) {
  EXPECT_EQ(problem_of<Flaw::wakes_one>(3, false), "deadlock");
}

/// The root writes its cell without a claim.
TEST_F(BrokenProtocol, CellIsStale) {
  World<Flaw::none> world(2, WaitMode::spin);
  const auto outcome = world.explore([](auto& team) {
    using Memory = Explored<Flaw::none>;
    for (std::size_t call = 0; call < 3; ++call) {
      const Step step = team.take(1);
      if (team.rank() == 0) {
        put<Memory>(team.payload(0, step), call);
        team.publish(step);
      } else {
        team.await(0, step);
        check<Memory>(team.payload(0, step), call);
      }
      team.finish(step);
    }
  });
  EXPECT_EQ(outcome.problem.substr(0, 13), "stale payload");
}

/// The root of a direct copy goes before the others are through.
TEST_F(BrokenProtocol, BufferIsWrittenTooEarly) {
  World<Flaw::none> world(2, WaitMode::spin);
  const auto outcome = world.explore([](auto& team) {
    using Memory = Explored<Flaw::none>;
    for (std::size_t call = 0; call < 2; ++call) {
      const Step step = team.take(2);
      const bool is_root = team.rank() == 0;
      if (is_root) {
        put<Memory>(team.slot(0, 0), call);
        show(team, step, {team.slot(0, 0), nullptr});
        team.publish(step);
      } else {
        team.await(0, step);
        check<Memory>(shown_by(team, 0, step).input, call);
      }
      team.finish(step);
      be_through(team, step + 1, false);
    }
  });
  EXPECT_EQ(outcome.problem.substr(0, 13), "stale payload");
}

/// A reader says that it has finished before it reads.
TEST_F(BrokenProtocol, SlotIsStale) {
  World<Flaw::none, kFewSlots> world(2, WaitMode::spin);
  const auto outcome = world.explore([](auto& team) {
    using Memory = Explored<Flaw::none, kFewSlots>;
    for (std::size_t call = 0; call < 3; ++call) {
      const Step step = team.take(1);
      const SlotUse use = team.take_slot(step);
      if (team.rank() == 0) {
        team.claim_slot(use);
        put<Memory>(team.slot(0, use.index), call);
        team.publish(step);
        team.finish(step);
      } else {
        team.await(0, step);
        team.finish(step);
        check<Memory>(team.slot(0, use.index), call);
      }
    }
  });
  EXPECT_EQ(outcome.problem.substr(0, 13), "stale payload");
}

}  // namespace
}  // namespace unisono::node
