// The arrival-aware chain, whoever arrives when: each course of arrivals leaves a static schedule,
// which the checker accepts; and a schedule that binds a peer wrongly is found out.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "algorithms/catalogue.h"
#include "schedule/checker.h"
#include "schedule/flow_control.h"
#include "schedule/metrics.h"
#include "schedule/problem.h"
#include "schedule/resolve.h"

namespace unisono {
namespace {

struct Calls {
  Calls(int size, int root, Count count, Count segment)
      : ranks({.collective = Collective::bcast,
               .size = size,
               .root = root,
               .count = count,
               .params = {.segment = segment}}) {
    const Algorithm& row = *find_algorithm(Collective::bcast, "arrival_chain");
    for (const Args& args : ranks.args()) schedules.push_back(build(row, args));
  }
  std::string violation(const Arrivals& sets) const {
    const auto found = check(ranks.args(), resolve(schedules, sets));
    return found ? found->text() : "";
  }

  ArgsOfRanks ranks;
  std::vector<Schedule> schedules;
};

std::vector<int> receivers(int size, int root) {
  std::vector<int> result;
  for (int rank = 0; rank < size; ++rank)
    if (rank != root) result.push_back(rank);
  return result;
}

/// `order` cut behind entry i where bit i of `cuts` is set.
Arrivals cut(const std::vector<int>& order, std::uint64_t cuts) {
  Arrivals sets;
  bool begins = true;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (begins) sets.emplace_back();
    sets.back().push_back(order[i]);
    begins = (cuts >> i & 1) != 0;
  }
  return sets;
}

/// Every ordered partition, with every order of arrival within its sets.
void for_each_course(int size, int root, const std::function<void(const Arrivals&)>& visit) {
  std::vector<int> order = receivers(size, root);
  const std::uint64_t all_cuts = size > 2 ? std::uint64_t{1} << (size - 2) : 1;
  do {
    for (std::uint64_t cuts = 0; cuts < all_cuts; ++cuts) visit(cut(order, cuts));
  } while (std::next_permutation(order.begin(), order.end()));
}

std::string text(const Arrivals& sets) {
  std::string written;
  for (const auto& set : sets) {
    written += "{ ";
    for (const int rank : set) written += std::to_string(rank) + " ";
    written += "}";
  }
  return written;
}

TEST(ArrivalChain, DoesWhatMpiDefinesInEveryCourseOfArrivals) {
  int courses = 0;
  for (int size = 1; size <= 5; ++size)
    for (int root = 0; root < size; ++root)
      for (const Count count : {0, 1, 21})
        for (const Count segment : {1, 4, 100}) {
          const Calls calls(size, root, count, segment);
          for_each_course(size, root, [&](const Arrivals& sets) {
            EXPECT_EQ(calls.violation(sets), "") << size << " ranks, root " << root << ", " << count
                                                 << " by " << segment << ", " << text(sets);
            ++courses;
          });
          if (HasFailure()) return;
        }
  EXPECT_EQ(courses, 9 * (1 + 2 * 1 + 3 * 4 + 4 * 24 + 5 * 192));
}

TEST(ArrivalChain, DoesWhatMpiDefinesInRandomCourses) {
  std::mt19937_64 random(17);
  for (const int size : {6, 7, 8, 13, 17, 33})
    for (int i = 0; i < 40; ++i) {
      const int root = static_cast<int>(random() % static_cast<unsigned>(size));
      const Calls calls(size, root, 1 + static_cast<Count>(random() % 30), 1 + i % 7);
      std::vector<int> order = receivers(size, root);
      std::shuffle(order.begin(), order.end(), random);
      const Arrivals sets = cut(order, random() & random());
      ASSERT_EQ(calls.violation(sets), "") << size << " ranks, root " << root << ", " << text(sets);
    }
}

TEST(ArrivalChain, StaysRightWithTwoSendsOnAChannel) {
  Calls calls(4, 1, 40, 3);
  for (Schedule& schedule : calls.schedules) schedule = limit_sends(std::move(schedule), 2);
  for_each_course(4, 1, [&](const Arrivals& sets) { EXPECT_EQ(calls.violation(sets), ""); });
}

TEST(ArrivalChain, SendsTheVectorOncePerChainAndPassesItOn) {
  const Calls calls(5, 2, 24, 4);
  for_each_course(5, 2, [&](const Arrivals& sets) {
    const auto all = resolve(calls.schedules, sets);
    const auto sent = [&](int rank) {
      Count units = 0;
      for (const Op& op : all[static_cast<std::size_t>(rank)].ops())
        if (op.kind == OpKind::send) units += op.length;
      return units;
    };
    EXPECT_EQ(sent(2), 24 * static_cast<Count>(sets.size())) << text(sets);
    for (const auto& set : sets)
      for (const int rank : set)
        EXPECT_EQ(sent(rank), rank == set.back() ? 0 : 24) << text(sets) << rank;
    EXPECT_EQ(measure(all).received, 24);
  });
}

// ---- what must be found out ---------------------------------------------------------------------

Schedule with_op(const Schedule& schedule, OpId id, const Op& op) {
  std::vector<Op> ops(schedule.ops().begin(), schedule.ops().end());
  ops[id] = op;
  std::vector<std::uint32_t> first{0};
  std::vector<OpId> deps;
  for (OpId i = 0; i < ops.size(); ++i) {
    const auto own = schedule.dependencies(i);
    deps.insert(deps.end(), own.begin(), own.end());
    first.push_back(static_cast<std::uint32_t>(deps.size()));
  }
  return {std::move(ops), std::move(first), std::move(deps), {}, {}, schedule.slots()};
}

/// Nothing in its place; for messages the other neighbour, or one tag further, too.
std::vector<Op> wrong_ones(Op op) {
  std::vector<Op> result{{}};
  if (!op.is_message()) return result;
  result.push_back(op);
  ++result.back().from_offset;
  if (!op.is_bound()) return result;
  op.peer = bound({kSlots, op.slot() == 0 ? 1 : 0, 1});
  result.push_back(op);
  return result;
}

// An op need not matter in every course: the last of a chain passes nothing on.
TEST(ArrivalChain, AWrongOpIsFoundInSomeCourse) {
  const Arrivals courses[] = {{{2, 3, 0}}, {{0, 3, 2}}, {{2}, {0}, {3}}};
  Calls calls(4, 1, 4, 2);
  int made = 0;
  for (Schedule& schedule : calls.schedules) {
    const Schedule right = schedule;
    for (OpId id = 0; id < right.ops().size(); ++id)
      for (const Op& op : wrong_ones(right.ops()[id])) {
        schedule = with_op(right, id, op);
        ++made;
        EXPECT_TRUE(
            std::any_of(std::begin(courses), std::end(courses),
                        [&](const Arrivals& sets) { return !calls.violation(sets).empty(); }))
            << "op " << id << " of rank " << &schedule - calls.schedules.data();
      }
    schedule = right;
  }
  EXPECT_GT(made, 80);
}

TEST(ArrivalChain, RanksThatFollowDifferentCoursesAreFoundOut) {
  const Calls calls(4, 0, 4, 2);
  const auto one = resolve(calls.schedules, {{1, 2, 3}});
  for_each_course(4, 0, [&](const Arrivals& sets) {
    auto mixed = resolve(calls.schedules, sets);
    mixed[1] = one[1];
    const bool alike = std::any_of(sets.begin(), sets.end(), [](const std::vector<int>& set) {
      return set.size() > 1 && set[0] == 1 && set[1] == 2;  // all that rank 1 knows of a course
    });
    EXPECT_EQ(check(calls.ranks.args(), mixed).has_value(), !alike) << text(sets);
  });
}

TEST(ArrivalChain, WhoIsNeverServedIsFoundOut) {
  const Calls calls(4, 0, 4, 2);
  EXPECT_NE(calls.violation({{1, 3}}).find("depends on who arrives when"), std::string::npos);
}

TEST(ArrivalChain, NoReaderIsLostWithAScheduleThatIsNotResolved) {
  const Calls calls(4, 0, 4, 2);
  const auto violation = check(calls.ranks.args(), calls.schedules);
  ASSERT_TRUE(violation);
  EXPECT_NE(violation->what.find("resolve() the schedules first"), std::string::npos);
  EXPECT_FALSE(one_ported(calls.schedules).complete);
  EXPECT_EQ(measure(calls.schedules).depth, 2);  // tokens, and what the root writes to all
}

TEST(AllWaiting, IsInRankOrderFromTheServerOnAndTheLateOneComesAlone) {
  EXPECT_EQ(all_waiting(4, 2), (Arrivals{{3, 0, 1}}));
  EXPECT_EQ(all_waiting(4, 2, 0), (Arrivals{{3, 1}, {0}}));
  EXPECT_EQ(all_waiting(4, 2, 2), (Arrivals{{3, 0, 1}}));
  EXPECT_EQ(all_waiting(2, 0, 1), (Arrivals{{1}}));
  EXPECT_EQ(all_waiting(1, 0), Arrivals{});
}

}  // namespace
}  // namespace unisono
