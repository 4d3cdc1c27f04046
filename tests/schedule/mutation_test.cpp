// Does the checker see errors? 10,000 valid schedules, each with one op dropped, duplicated,
// redirected, resized or shifted: at least 99 % must be rejected, and every survivor is printed.
//
// Not made, because they mean the same as the original: a second copy from the same place to the
// same place, and anything done to a join, which orders but moves nothing.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "algorithms/catalogue.h"
#include "patterns/arrival.h"
#include "schedule/checker.h"
#include "schedule/problem.h"

namespace unisono {
namespace {

enum class Mutation { drop, duplicate, redirect, resize, shift };
constexpr const char* kMutationNames[] = {"drop", "duplicate", "redirect", "resize", "shift"};

bool applies(Mutation mutation, const Op& op, int size) {
  switch (mutation) {
    case Mutation::drop: return op.kind != OpKind::join;
    case Mutation::duplicate: return op.is_message() || op.kind == OpKind::reduce;
    case Mutation::redirect: return op.is_message() && size > 2;
    case Mutation::resize:
    case Mutation::shift: return op.length > 0;
  }
  return false;
}

/// The positions on the channels follow from the order of the ops.
void renumber(std::vector<Op>& ops) {
  std::map<std::pair<int, OpKind>, Count> next;
  for (Op& op : ops)
    if (op.is_message()) op.from_offset = next[{op.peer, op.kind}]++;
}

/// `schedule` with one op changed. A dropped op hands its dependencies on to its dependents; the
/// second of two equal ops comes after the first and before what waited for it.
Schedule mutate(const Schedule& schedule, OpId victim, Mutation mutation, int rank, int size,
                std::mt19937& random) {
  std::vector<Op> ops;
  std::vector<std::uint32_t> first_dep{0};
  std::vector<OpId> deps;
  const auto moved = [&](OpId id) {
    if (mutation == Mutation::drop) return id > victim ? id - 1 : id;
    if (mutation == Mutation::duplicate) return id >= victim ? id + 1 : id;
    return id;
  };
  for (OpId id = 0; id < schedule.ops().size(); ++id) {
    Op op = schedule.ops()[id];
    if (id == victim && mutation == Mutation::drop) continue;
    if (id == victim && mutation == Mutation::duplicate) {
      ops.push_back(op);
      for (const OpId d : schedule.dependencies(id)) deps.push_back(d);
      first_dep.push_back(static_cast<std::uint32_t>(deps.size()));
      deps.push_back(id);
    }
    if (id == victim) {
      const int sign = random() % 2 == 0 ? 1 : -1;
      if (mutation == Mutation::resize) op.length += sign;
      if (mutation == Mutation::shift) op.offset += sign;
      if (mutation == Mutation::redirect) {
        const int old_peer = op.peer;
        while (op.peer == old_peer || op.peer == rank)
          op.peer = static_cast<int>(random() % static_cast<unsigned>(size));
      }
    }
    ops.push_back(op);
    for (const OpId d : schedule.dependencies(id)) {
      if (d != victim || mutation != Mutation::drop)
        deps.push_back(moved(d));
      else
        for (const OpId earlier : schedule.dependencies(d)) deps.push_back(earlier);
    }
    first_dep.push_back(static_cast<std::uint32_t>(deps.size()));
  }
  renumber(ops);
  return {std::move(ops),
          std::move(first_dep),
          std::move(deps),
          {schedule.scratch().begin(), schedule.scratch().end()}};
}

struct Subject {
  const Algorithm* algorithm;
  Problem problem;
};

Subject random_subject(std::mt19937& random) {
  const auto any = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
  };
  for (;;) {
    const Algorithm& row = catalogue()[random() % catalogue().size()];
    Problem problem;
    do problem.collective = static_cast<Collective>(any(0, kCollectives - 1));
    while (!contains(row.collectives, problem.collective));
    problem.size = any(2, 12);
    problem.root = any(0, problem.size - 1);
    problem.count = any(1, 20);
    problem.in_place = any(0, 1) == 1;
    problem.differ = static_cast<unsigned>(any(0, 3));
    problem.commutative = (row.restrictions & kCommutative) != 0 || any(0, 1) == 1;
    problem.params = default_params(row);
    for (const Parameter& parameter : row.parameters)
      problem.params.*parameter.field = std::max<Count>(parameter.least, any(1, 6));
    if ((row.restrictions & kPredicts) != 0)
      problem.params.late = intern({any(0, problem.size - 1), problem.size});
    const ArgsOfRanks ranks(problem);
    if (!unmet_restriction(row, ranks[0])) return {&row, problem};
  }
}

/// Enough to see by hand why it means the same as the original.
std::string survivor_text(const Subject& subject, const char* mutation, std::size_t rank,
                          OpId victim, const Schedule& before, const Schedule& after) {
  const auto op_text = [&](const Schedule& schedule) -> std::string {
    if (victim >= schedule.ops().size()) return "-";
    const Op& op = schedule.ops()[victim];
    return "buffer " + std::to_string(op.buffer) + "[" + std::to_string(op.offset) + " + " +
           std::to_string(op.length) + "]";
  };
  return std::string(name(subject.problem.collective)) + "/" +
         std::string(subject.algorithm->name) + ", " + std::to_string(subject.problem.size) +
         " ranks, root " + std::to_string(subject.problem.root) + ", count " +
         std::to_string(subject.problem.count) + (subject.problem.in_place ? ", in place" : "") +
         ": " + mutation + " op " + std::to_string(victim) + " of rank " + std::to_string(rank) +
         ": " + op_text(before) + " -> " + op_text(after);
}

TEST(Mutation, TheCheckerRejectsMutants) {
  constexpr int kMutants = 10'000;
  std::mt19937 random(20041);
  std::map<std::string, int> survivors;
  int rejected = 0, without_place = 0;
  for (int made = 0; made < kMutants;) {
    const Subject subject = random_subject(random);
    const ArgsOfRanks ranks(subject.problem);
    std::vector<Schedule> schedules = build_all(*subject.algorithm, ranks.args());
    const auto rank = random() % schedules.size();
    Schedule& schedule = schedules[rank];
    if (schedule.ops().empty()) continue;
    const auto victim = static_cast<OpId>(random() % schedule.ops().size());
    const auto mutation = static_cast<Mutation>(random() % 5);
    if (!applies(mutation, schedule.ops()[victim], subject.problem.size)) continue;
    ++made;
    const Schedule original = schedule;
    schedule =
        mutate(schedule, victim, mutation, static_cast<int>(rank), subject.problem.size, random);
    if (const auto violation = check(ranks.args(), schedules)) {
      ++rejected;
      if (violation->rank < 0 || violation->what.empty()) ++without_place;
      continue;
    }
    ++survivors[survivor_text(subject, kMutationNames[static_cast<int>(mutation)], rank, victim,
                              original, schedule)];
  }
  for (const auto& [what, times] : survivors)
    std::printf("survivor x%d: %s\n", times, what.c_str());
  std::printf("%d of %d mutants rejected\n", rejected, kMutants);
  EXPECT_EQ(without_place, 0);
  EXPECT_GE(rejected, kMutants * 99 / 100);
}

}  // namespace
}  // namespace unisono
