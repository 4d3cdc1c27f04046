// Direct copies, in every interleaving of two or three ranks: nobody touches memory of the others
// before it is shown or after they have gone on.
#include <gtest/gtest.h>

#include <cstring>

#include "node/direct.h"
#include "node/pipeline.h"
#include "tests/node/explored_team.h"
#include "tests/thorough.h"

namespace unisono::node {
namespace {

/// Not its slots here but the rank's own memory, written again as soon as a call is over.
template <class Memory>
Buffers buffers_of(BasicTeam<Memory>& team) {
  return {team.slot(team.rank(), 0), team.slot(team.rank(), kLinePair)};
}

/// Everybody pulls from everybody's input and pushes to its successor's output.
template <class Memory>
void copies_directly(BasicTeam<Memory>& team, std::size_t call) {
  const int me = team.rank(), size = team.size();
  const Buffers mine = buffers_of(team);
  put<Memory>(team.slot(me, 0), value_of(me, call));
  const bool copied = copy_directly(team, mine, [&](const auto& shown) {
    forget_all_but(team, 1);
    for_others(team, [&](int rank) { check<Memory>(shown(rank).input, value_of(rank, call)); });
    put<Memory>(shown((me + 1) % size).output, value_of(me, call));
    return true;
  });
  Explorer::current->expect(copied, "not copied");
  check<Memory>(mine.output, value_of((me + size - 1) % size, call));
  forget_all_but(team);
}

/// `fails`: a rank whose copy does, so that it gets the value through its relay.
template <class Memory>
void copies_with_root(BasicTeam<Memory>& team, int root, std::size_t call, int fails = -1) {
  const bool is_root = team.rank() == root;
  if (is_root) put<Memory>(team.slot(root, 0), value_of(root, call));
  copy_with_root(
      team, root, buffers_of(team),
      [&](const Buffers& theirs) {
        forget_all_but(team, 1);
        if (team.rank() == fails) return false;
        if (!is_root) check<Memory>(theirs.input, value_of(root, call));
        return true;
      },
      [&](int rank) {
        std::byte* piece = team.slot(root, (Memory::kUses - 1) * kLinePair);
        for (std::size_t i = 0; i < 2; ++i) {
          if (is_root)
            team.give(rank, [&] { put<Memory>(piece, value_of(root, call + i)); });
          else
            team.receive(rank, [&] { check<Memory>(piece, value_of(root, call + i)); });
        }
      });
  forget_all_but(team);
}

/// As in alltoallv: every rank posts in a round, be it where its own memory is, from which `shower`
/// has the others copy; then all are through with it.
template <class Memory>
void exchanges_addresses(BasicTeam<Memory>& team, int shower, std::size_t call) {
  const int me = team.rank();
  const bool shows = me == shower;
  std::byte* mine = team.slot(me, (Memory::kUses - 1) * kLinePair);
  if (shows) put<Memory>(mine, value_of(me, call));
  exchange_rounds(
      team, [&](std::size_t) { return team.slot_bytes(); },
      [&](std::size_t, const auto& posted) {
        forget_all_but(team, 1);
        if (shows)
          std::memcpy(posted.cell_of(me), &mine, sizeof mine);
        else
          put_slot(team, posted.of(me), value_of(me, call));
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
  const Step last = team.take(1);
  be_through(team, last, shows, true);
  team.finish(last);
  forget_all_but(team);
}

/// As in scatterv.
template <class Memory>
void posts_address(BasicTeam<Memory>& team, int root, std::size_t call) {
  const bool is_root = team.rank() == root;
  std::byte* shown = team.slot(root, (Memory::kUses - 1) * kLinePair);
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
  be_through_with_root(team, root, 0, [](int, std::size_t) {});
  forget_all_but(team);
}

/// As in gatherv: the root waits for nobody before it shows where all others write.
template <class Memory>
void gathers_into_addresses(BasicTeam<Memory>& team, int root, std::size_t call) {
  const int me = team.rank();
  const bool is_root = me == root;
  const auto place_of = [&](int rank) {
    return team.slot(root, (Memory::kUses - 1) * kLinePair) + 8 * static_cast<std::size_t>(rank);
  };
  exchange_rounds(
      team, [&](std::size_t) { return team.slot_bytes(); },
      [&](std::size_t, const auto&) { forget_all_but(team, 1); },
      [&](const auto& posted) -> std::size_t {
        posted.await(root);
        return 1;
      },
      [&](std::size_t, const auto&) {
        forget_all_but(team, 2);
        if (!is_root) put<Memory>(place_of(me), value_of(me, call));
      });
  be_through_with_root(team, root, 0, [](int, std::size_t) {});
  if (is_root)
    for_others(team, [&](int rank) { check<Memory>(place_of(rank), value_of(rank, call)); });
  forget_all_but(team);
}

class DirectProtocol : public CellProtocol {};
class DirectAndSlotProtocol : public ExploredProtocol {};

TEST_P(DirectProtocol, DirectCopiesOfTwo) {
  expect_right_in_all(2, [](auto& team) {
    for (std::size_t call = 0; call < 3; ++call) copies_directly(team, call);
  });
}

// Late stores have ten times as many states: of two ranks, but where there is time.
TEST_P(DirectProtocol, DirectCopiesOfThree) {
  const int ranks = stores_are_late() && !is_thorough() ? 2 : 3;
  expect_right_in_all(ranks, [](auto& team) { copies_directly(team, 0); });
}

TEST_P(DirectProtocol, DirectCopiesWithRootsInTurn) {
  expect_right_in_all(2, [](auto& team) {
    for (std::size_t call = 0; call < 4; ++call)
      copies_with_root(team, static_cast<int>(call % 2), call);
  });
}

TEST_P(DirectProtocol, DirectCopiesWithOneRootOfThree) {
  expect_right_in_all(3, [](auto& team) { copies_with_root(team, 0, 0); });
}

TEST_P(DirectProtocol, WhatFailsGoesThroughRelays) {
  expect_right_in_all(2, [](auto& team) {
    for (std::size_t call = 0; call < 2; ++call)
      copies_with_root(team, static_cast<int>(call), call, static_cast<int>(1 - call));
  });
  // Of three, sleepers and late stores have more states than can be seen in a minute.
  if (is_thorough() && !stores_are_late() && std::get<0>(GetParam()) == WaitMode::spin)
    expect_right_in_all(3, [](auto& team) { copies_with_root(team, 0, 0, 1); });
}

TEST_P(DirectAndSlotProtocol, BlocksAndAddressesOfTwo) {
  expect_right_in_all(2, [](auto& team) {
    for (std::size_t call = 0; call < 3; ++call)
      exchanges_addresses(team, static_cast<int>(call % 2), call);
  });
}

TEST_P(DirectAndSlotProtocol, BlocksAndAddressesOfThree) {
  expect_right_in_all(3, [](auto& team) { exchanges_addresses(team, 0, 0); });
}

TEST_P(DirectProtocol, AddressesOfRootsInTurn) {
  expect_right_in_all(2, [](auto& team) {
    for (std::size_t call = 0; call < 2; ++call) {
      posts_address(team, static_cast<int>(call), call);
      gathers_into_addresses(team, static_cast<int>(call), call);
    }
  });
}

TEST_P(DirectProtocol, AddressesOfOneRootOfThree) {
  expect_right_in_all(3, [](auto& team) { posts_address(team, 0, 0); });
}

INSTANTIATE_TEST_SUITE_P(, DirectProtocol, with_plain_stores());
INSTANTIATE_TEST_SUITE_P(, DirectAndSlotProtocol, with_all_stores());

/// The root of a direct copy goes before the others are through.
TEST(BrokenDirectProtocol, BufferIsWrittenTooEarly) {
  if (!kRuns) GTEST_SKIP() << "not with this sanitizer";
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
      be_through(team, step + 1, false, true);
      team.finish(step + 1);
    }
  });
  EXPECT_EQ(outcome.problem.substr(0, 13), "stale payload");
}

}  // namespace
}  // namespace unisono::node
