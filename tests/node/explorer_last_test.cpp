// The last to come combines for all, and two levels of small teams, in every interleaving.
#include <gtest/gtest.h>

#include <string>

#include "node/levels.h"
#include "tests/node/explored_team.h"

namespace unisono::node {
namespace {

constexpr Cut kChunk{kLinePair, kLinePair};
constexpr int kResult = 99;  // in place of a rank

template <class Memory>
void combines(BasicTeam<Memory>& team, const Cut& cut, std::size_t call) {
  combine_last(
      team, cut,
      [&](std::byte* where) {
        put_chunk(team, cut.is_inline(), where, value_of(team.rank(), call));
      },
      [&](const auto& posted) {
        for (int rank = 0; rank < team.size(); ++rank)
          check<Memory>(posted.of(rank), value_of(rank, call));
        put_chunk(team, cut.is_inline(), posted.of(0), value_of(kResult, call));
      },
      [&](const std::byte* where) { check<Memory>(where, value_of(kResult, call)); });
  forget_all_but(team);
}

class Last : public ExploredProtocol {};

TEST_P(Last, CombinesForTwo) {
  expect_right_in_all(2, [](auto& team) {
    for (std::size_t call = 0; call < 4; ++call) combines(team, kOneWord, call);
  });
}

TEST_P(Last, CombinesForThree) {
  const std::size_t calls = stores_are_late() ? 1 : 2;
  expect_right_in_all(3, [calls](auto& team) {
    for (std::size_t call = 0; call < calls; ++call) combines(team, kOneWord, call);
  });
}

TEST_P(Last, CombinesThroughFewSlots) {
  expect_right_in_all<kFewSlots>(2, [](auto& team) {
    for (std::size_t call = 0; call < 4; ++call) combines(team, kChunk, call);
  });
}

TEST_P(Last, CombinesBetweenOtherCalls) {
  expect_right_in_all(2, [](auto& team) {
    using Memory = World<Flaw::none>::Memory;
    const auto bcast = [&team](std::size_t call) {
      post(
          team, 0, kOneWord,
          [&](Chunk, std::byte* where) { put<Memory>(where, value_of(0, call)); },
          [&](Chunk, const std::byte* where) { check<Memory>(where, value_of(0, call)); });
      forget_all_but(team);
    };
    bcast(0);
    combines(team, kOneWord, 1);
    combines(team, kChunk, 2);
    bcast(3);
  });
}

INSTANTIATE_TEST_SUITE_P(, Last,
                         testing::Combine(testing::Values(WaitMode::sleep), testing::Bool(),
                                          testing::Values(Store::plain, Store::nontemporal)));

/// combine_last with a mistake in its order.
enum class Mistake { opens_first, finishes_first, waits_for_nobody };

template <Mistake kMistake, class Memory>
void combines_wrongly(BasicTeam<Memory>& team, std::size_t call) {
  const Step step = team.take(1);
  put<Memory>(team.claim(step), value_of(team.rank(), call));
  const bool is_last = team.arrive(step);
  if (is_last && kMistake == Mistake::opens_first) team.open(step);
  if (kMistake == Mistake::waits_for_nobody ? team.rank() == 0 : is_last) {
    for (int rank = 0; rank < team.size(); ++rank)
      check<Memory>(team.payload(rank, step), value_of(rank, call));
    put<Memory>(team.payload(0, step), value_of(kResult, call));
  }
  if (is_last && kMistake != Mistake::opens_first) team.open(step);
  team.await_all(step);
  if (kMistake == Mistake::finishes_first) team.finish(step);
  check<Memory>(team.payload(0, step), value_of(kResult, call));
  if (kMistake != Mistake::finishes_first) team.finish(step);
}

class BrokenLast : public testing::Test {
 protected:
  void SetUp() override {
    if (!kRuns) GTEST_SKIP() << "not with this sanitizer";
  }
  template <Mistake kMistake>
  static std::string problem() {
    // One cell: with two, a gate in between hides who gives back too early.
    World<Flaw::none, Rings{1, 3}> world(2, WaitMode::sleep);
    const auto outcome = world.explore([](auto& team) {
      for (std::size_t call = 0; call < 3; ++call) combines_wrongly<kMistake>(team, call);
    });
    return outcome.problem.substr(0, outcome.problem.find(','));
  }
};

TEST_F(BrokenLast, OpensBeforeItHasCombined) {
  EXPECT_EQ(problem<Mistake::opens_first>(), "stale payload");
}

TEST_F(BrokenLast, ReadsWhatItHasGivenBack) {
  EXPECT_EQ(problem<Mistake::finishes_first>(), "stale payload");
}

TEST_F(BrokenLast, IsNotTheLast) {
  EXPECT_EQ(problem<Mistake::waits_for_nobody>(), "stale payload");
}

// --- two levels
// ---------------------------------------------------------

template <class Memory>
void forget_all_but(const BasicLevels<Memory>& levels) {
  std::uint64_t hash = hash_of(levels.group, 0);
  if (levels.leaders) hash = hash_of(*levels.leaders, hash);
  Explorer::current->forget(hash);
}

template <class Memory>
void exchanges(BasicTeam<Memory>& team, std::size_t call) {
  exchange_in_levels(
      *team.levels(), 8, [&](std::byte* where) { put<Memory>(where, value_of(team.rank(), call)); },
      [](std::byte* to, const std::byte* from) { put<Memory>(to, get<Memory>(from)); },
      [&](const auto& message) {
        for (int rank = 0; rank < team.size(); ++rank)
          check<Memory>(message(rank), value_of(rank, call));
      },
      [&](std::byte* where) { put<Memory>(where, value_of(kResult, call)); },
      [&](const std::byte* where) { check<Memory>(where, value_of(kResult, call)); });
  forget_all_but(*team.levels());
}

template <class Memory>
void collects(BasicTeam<Memory>& team, int root, std::size_t call) {
  collect_in_levels(
      *team.levels(), 8, team.rank() == root,
      [&](std::byte* where) { put<Memory>(where, value_of(team.rank(), call)); },
      [](std::byte* to, const std::byte* from) { put<Memory>(to, get<Memory>(from)); },
      [&](const auto& message) {
        for (int rank = 0; rank < team.size(); ++rank)
          check<Memory>(message(rank), value_of(rank, call));
      });
  forget_all_but(*team.levels());
}

template <class Memory>
void posts(BasicTeam<Memory>& team, int root, std::size_t call) {
  post_in_levels(
      *team.levels(), root, [&](std::byte* where) { put<Memory>(where, value_of(root, call)); },
      [&](const std::byte* where) { check<Memory>(where, value_of(root, call)); });
  forget_all_but(*team.levels());
}

class Levels : public CellProtocol {
 protected:
  /// Neighbours, and not.
  template <class Body>
  void expect_right_in_both(Body body) {
    for (const std::vector<int>& group_of : {std::vector{0, 0, 1}, std::vector{0, 1, 0}})
      expect_right_in_all(Groups(group_of), body);
  }
};

TEST_P(Levels, ExchangeWrapsTheCells) {
  const std::size_t calls = stores_are_late() ? 1 : 2;
  expect_right_in_both([calls](auto& team) {
    for (std::size_t call = 0; call < calls; ++call) exchanges(team, call);
  });
}

TEST_P(Levels, OneCollectsAndOthersAreAhead) {
  const std::size_t calls = stores_are_late() ? 1 : 3;  // two take half a minute
  expect_right_in_both([calls](auto& team) {
    for (std::size_t call = 0; call < calls; ++call) collects(team, 0, call);
  });
}

TEST_P(Levels, RootsThatLeadAndDoNot) {
  const int roots = stores_are_late() ? 2 : 3;
  expect_right_in_both([roots](auto& team) {
    for (int root = 0; root < roots; ++root) posts(team, root, static_cast<std::size_t>(root));
  });
}

TEST_P(Levels, AllKindsMixed) {
  const bool with_all = !stores_are_late();
  expect_right_in_both([with_all](auto& team) {
    posts(team, 1, 0);
    collects(team, 0, 1);
    if (with_all) exchanges(team, 2);
  });
}

INSTANTIATE_TEST_SUITE_P(, Levels,
                         testing::Combine(testing::Values(WaitMode::spin), testing::Bool(),
                                          testing::Values(Store::plain)));

}  // namespace
}  // namespace unisono::node
