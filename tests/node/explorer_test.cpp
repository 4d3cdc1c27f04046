// The protocol of src/node/flags.h and pipeline.h, in every interleaving of two or three ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "node/pipeline.h"
#include "tests/node/explored_team.h"

namespace unisono::node {
namespace {

/// Chunks in slots, with an abstract payload: the first word of each.
Cut chunks(std::size_t count) { return {kLinePair * count, kLinePair}; }

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
        put_chunk(team, cut.is_inline(), where, value_of(root, call + chunk.begin));
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
        put_chunk(team, cut.is_inline(), where, value_of(team.rank(), call + chunk.begin));
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
        put_slot(team, where, value_of(team.rank(), chunk.begin));
      },
      [&](Chunk chunk, const auto& posted) {
        forget_all_but(team, chunk.begin + 2);
        read(posted, 0, chunk.begin);
        put_slot(team, posted.of(team.rank()) + kResult, value_of(team.rank(), chunk.begin + 1));
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
        put_slot(team, posted.of(root), value_of(root, call + round));
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
      team, [&](std::size_t) { return team.slot_bytes(); },
      [&](std::size_t round, const auto& posted) {
        forget_all_but(team, 2 * round + 1);
        put<Memory>(posted.cell_of(me), rounds_of(me));
        if (round < rounds_of(me)) put_slot(team, posted.of(me), value_of(me, call + round));
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

TEST_P(CellProtocol, BarriersOfTwo) {
  expect_right_in_all(2, [](auto& team) { barriers(team, 4); });
}

TEST_P(CellProtocol, BarriersOfThree) {
  expect_right_in_all(3, [](auto& team) { barriers(team, 2); });
}

TEST_P(CellProtocol, ShortMessagesFromOneRootWrapTheCells) {
  expect_right_in_all(2, [](auto& team) {
    for (std::size_t call = 0; call < 4; ++call) posts(team, 0, kOneWord, call);
  });
}

TEST_P(ExploredProtocol, LongMessageFromOneRootWrapsTheSlots) {
  expect_right_in_all<kFewSlots>(2, [](auto& team) { posts(team, 0, chunks(5), 0); });
}

TEST_P(CellProtocol, RootsTakeTurns) {
  expect_right_in_all(2, [](auto& team) {
    for (std::size_t call = 0; call < 4; ++call)
      posts(team, static_cast<int>(call % 2), kOneWord, call);
  });
}

TEST_P(CellProtocol, OneReaderAndOthersAheadOfIt) {
  expect_right_in_all(2, [](auto& team) {
    for (std::size_t call = 0; call < 4; ++call) exchanges(team, kOneWord, call, 0);
  });
}

TEST_P(CellProtocol, ReadersTakeTurnsAmongThree) {
  const std::size_t calls = stores_are_late() ? 2 : 3;  // three take half a million states
  expect_right_in_all(3, [calls](auto& team) {
    for (std::size_t call = 0; call < calls; ++call)
      exchanges(team, kOneWord, call, static_cast<int>(call % 3));
  });
}

TEST_P(ExploredProtocol, ExchangeInChunks) {
  expect_right_in_all(2, [](auto& team) { exchanges(team, chunks(3), 0); });
}

TEST_P(ExploredProtocol, ExchangeThroughFewSlots) {
  expect_right_in_all<kFewSlots>(2, [](auto& team) { exchanges(team, chunks(3), 0); });
}

TEST_P(ExploredProtocol, ExchangeWithAMiddle) {
  expect_right_in_all(2, [](auto& team) { exchanges_twice(team, chunks(4)); });
}

TEST_P(ExploredProtocol, ExchangeWithAMiddleThroughFewSlots) {
  expect_right_in_all<Rings{8, 3}>(2, [](auto& team) { exchanges_twice(team, chunks(4)); });
}

TEST_P(ExploredProtocol, RoundsThatOnlyTheRootKnows) {
  expect_right_in_all(2, [](auto& team) {
    posts_of_rounds(team, 0, 3, 0);
    posts_of_rounds(team, 1, 1, 100);
    posts(team, 0, kOneWord, 200);
  });
}

TEST_P(ExploredProtocol, RoundsThatNobodyKnowsAlone) {
  expect_right_in_all(2, [](auto& team) {
    exchanges_of_rounds(team, {1, 3}, 0);
    exchanges_of_rounds(team, {1, 0}, 100);
  });
}

/// The cells, which have said how many rounds there are, are read after the slots.
TEST_P(ExploredProtocol, RoundsBeforeManyShortMessages) {
  expect_right_in_all(2, [](auto& team) {
    exchanges_of_rounds(team, {2, 1}, 0, 1);
    for (std::size_t call = 1; call < 4; ++call) posts(team, 0, kOneWord, 100 * call);
  });
}

TEST_P(ExploredProtocol, RoundsOfThree) {
  expect_right_in_all(3, [](auto& team) { exchanges_of_rounds(team, {1, 2, 0}, 0, 0); });
}

TEST_P(ExploredProtocol, AllKindsMixed) {
  expect_right_in_all(2, [](auto& team) {
    exchanges(team, kOneWord, 0);
    posts(team, 1, chunks(2), 100);
    barriers(team, 1);
    posts(team, 0, kOneWord, 200);
    exchanges(team, chunks(2), 300, 1);
  });
}

INSTANTIATE_TEST_SUITE_P(, CellProtocol, with_plain_stores());
INSTANTIATE_TEST_SUITE_P(, ExploredProtocol, with_all_stores());

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

/// A reader says that it has finished before it reads.
TEST_F(BrokenProtocol, SlotIsStale) {
  World<Flaw::none, kFewSlots> world(2, WaitMode::spin);
  const auto outcome = world.explore([](auto& team) {
    using Memory = Explored<Flaw::none, kFewSlots>;
    for (std::size_t call = 0; call < 3; ++call) {
      const Step step = team.take(1);
      const SlotUse use = team.take_slot(kLinePair, step);
      if (team.rank() == 0) {
        team.claim_slot(use);
        put<Memory>(team.slot(0, use.offset), call);
        team.publish(step);
        team.finish(step);
      } else {
        team.await(0, step);
        team.finish(step);
        check<Memory>(team.slot(0, use.offset), call);
      }
    }
  });
  EXPECT_EQ(outcome.problem.substr(0, 13), "stale payload");
}

}  // namespace
}  // namespace unisono::node
