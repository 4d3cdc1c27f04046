// What the rule chooses on machines that are made up: by counts of the model, never by times.
#include "node/costs.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <initializer_list>
#include <vector>

#include "node/probe.h"
#include "node/rule.h"
#include "tests/node/ranks.h"

namespace unisono::node {
namespace {

constexpr std::size_t kKiB = 1024, kNever = DirectFrom::kNever;

/// Lines of the other core cost little, or very much unless they were written past its caches.
MemoryCosts near() { return {100, 0.02, 0.04, 0.03, 700, 0.06}; }
MemoryCosts far_plain() { return {400, 0.25, 0.3, 0.03, 700, 0.2}; }
MemoryCosts far_streamed() { return {400, 0.06, 0.05, 0.03, 700, 0.2}; }

Setting sleeping(int ranks) { return {ranks, 2, WaitMode::sleep}; }

TEST(Thresholds, OfAFarMachineCopyDirectlySoonerThanOfANearOne) {
  const DirectFrom close = thresholds_of(near(), {}).direct;
  const DirectFrom distant = thresholds_of(far_plain(), {}).direct;
  EXPECT_LT(distant.allgather, close.allgather);
  EXPECT_LT(distant.bcast, close.bcast);
  EXPECT_LT(distant.allreduce, close.allreduce);
}

TEST(Thresholds, OfStreamedSlotsNeverCopyDirectlyWhereThatIsDear) {
  const DirectFrom direct = thresholds_of(far_streamed(), {}).direct;
  for (const std::size_t from :
       {direct.allgather, direct.alltoall, direct.allreduce, direct.gather})
    EXPECT_EQ(from, kNever);
}

TEST(Thresholds, BeforeAnythingIsMeasuredAreThoseOfTheMachineTheyCameFrom) {
  const Setting two{};
  const DirectFrom direct = thresholds_of(prior_costs(two), two).direct;
  for (const std::size_t from : {direct.bcast, direct.gather, direct.scatter, direct.allgather,
                                 direct.alltoall, direct.allreduce, direct.reduce}) {
    EXPECT_GE(from, 4 * kKiB);
    EXPECT_LE(from, 128 * kKiB);
  }
  const ReadAll read = thresholds_of(prior_costs(two), two).read;
  EXPECT_GE(read.everybody, 8 * kKiB);
  EXPECT_LE(read.everybody, 64 * kKiB);
}

TEST(Thresholds, OfASleeperAreWhereTheWorkIsLess) {
  const Setting setting = sleeping(4);
  const Thresholds found = thresholds_of(prior_costs(setting), setting);
  // One reader, or everybody's own block: directly earlier than what many read.
  EXPECT_GE(found.direct.gather, 4 * kKiB);
  EXPECT_LE(found.direct.gather, 32 * kKiB);
  EXPECT_LE(found.direct.alltoall, 32 * kKiB);
  EXPECT_GT(found.direct.bcast, 2 * found.direct.gather);
  EXPECT_GE(found.read.last, 96 * kKiB);
  // Scan: short ones need no order, long ones less work.
  EXPECT_GE(found.read.before, 3 * kKiB);
  EXPECT_LE(found.read.before, 256 * kKiB);
}

// A slot with a part for each of many ranks holds little of each, and each slot is a turn of all.
TEST(Thresholds, OfManySleepersSpareTheirTurns) {
  const Setting few = sleeping(4), many = sleeping(64);
  MemoryCosts costs = prior_costs(few);
  costs.pull = 2 * (costs.write + costs.fetch);  // by the bytes alone never worth it
  EXPECT_GT(thresholds_of(costs, few).direct.scatter, 128 * kKiB);
  costs.step = prior_costs(many).step;
  const DirectFrom direct = thresholds_of(costs, many).direct;
  EXPECT_LE(direct.scatter, 64 * kKiB);
  EXPECT_LE(direct.alltoall, 64 * kKiB);
  EXPECT_EQ(direct.gather, kNever);
}

TEST(Thresholds, OfOneRankAreNone) {
  EXPECT_EQ(thresholds_of({}, {1, 1}).direct.allgather, kNever);
}

TEST(TimeOf, CountsTheWorkOfAllWhereRanksShareACore) {
  const Work work{10, 100, 1, 3};
  MemoryCosts costs;
  costs.step = 1000;
  EXPECT_EQ(time_of(work, costs, {16, 16}), 10 + 4000);
  EXPECT_EQ(time_of(work, costs, {16, 2}), 50 + 4000);
  EXPECT_EQ(time_of(work, costs, sleeping(16)), 50 + 1000);
}

TEST(TimeByRule, IsThatOfTheCheapestProtocol) {
  for (const WaitMode mode : {WaitMode::spin, WaitMode::sleep}) {
    const Setting setting{3, 2, mode};
    const MemoryCosts costs = prior_costs(setting);
    const auto time = [&](Kernel kernel, Protocol way, double bytes) {
      return time_of(work_of(kernel, way, bytes, costs, setting), costs, setting);
    };
    for (const double bytes : {8., 4096., 4e6}) {
      EXPECT_EQ(time_by_rule(Kernel::bcast, bytes, costs, setting),
                std::min(time(Kernel::bcast, Protocol::pipeline, bytes),
                         time(Kernel::bcast, Protocol::direct, bytes)));
      EXPECT_LE(time_by_rule(Kernel::allreduce, bytes, costs, setting),
                time(Kernel::allreduce, Protocol::slices, bytes));
    }
    EXPECT_LT(time_by_rule(Kernel::scan, 8, costs, setting),
              time_by_rule(Kernel::scan, 4e6, costs, setting));
  }
}

TEST(WorkOf, IsCountedFromTheBytesOfTheProtocol) {
  const MemoryCosts bytes_written{0, 1, 0, 0, 0, 0}, bytes_fetched{0, 0, 1, 0, 0, 0},
      calls{0, 0, 0, 0, 1, 0};
  const Setting four{4, 4};
  const auto all = [&four](Kernel kernel, Protocol way, const MemoryCosts& costs) {
    return work_of(kernel, way, 1000, costs, four).all;
  };
  using enum Protocol;
  EXPECT_EQ(all(Kernel::bcast, pipeline, bytes_written), 1000);
  EXPECT_EQ(all(Kernel::bcast, pipeline, bytes_fetched), 3000);
  EXPECT_EQ(all(Kernel::alltoall, pipeline, bytes_written), 12'000);
  EXPECT_EQ(all(Kernel::allgather, pipeline, bytes_fetched), 12'000);
  EXPECT_EQ(all(Kernel::allreduce, slices, bytes_written), 4000);
  EXPECT_EQ(all(Kernel::allreduce, slices, bytes_fetched), 6000);
  EXPECT_EQ(all(Kernel::alltoall, direct, calls), 12);
}

TEST(BetterStore, IsTheOneThatTakesLessTogether) {
  EXPECT_EQ(better({{0.02, 0.04}, {0.06, 0.05}}), Store::plain);
  EXPECT_EQ(better({{0.02, 0.40}, {0.06, 0.05}}), Store::nontemporal);
  EXPECT_EQ(better({{0.05, 0.05}, {0.05, 0.05}}), Store::plain);
}

/// The rule, of a team that goes by those numbers.
TEST(Rule, ChoosesTheCheapestRow) {
  TestArena<Team> arena(2, 8 * Slots::kLongest);
  Team team(arena.memory(), 0, 2, {WaitMode::spin});
  const std::vector<pid_t> processes(2, getpid());
  team.allow_direct(processes, {});
  const auto go_by = [&team](const MemoryCosts& costs) {
    const Thresholds found = thresholds_of(costs, {});
    team.set_direct_from(found.direct);
    team.set_read_all(found.read);
  };
  go_by(near());
  EXPECT_EQ(alltoall_rule(team, 8 * kKiB, true), Protocol::pipeline);
  EXPECT_EQ(allreduce_rule(team, kKiB, true), Protocol::read_all);
  EXPECT_EQ(allreduce_rule(team, 1024 * kKiB, false), Protocol::slices);
  go_by(far_plain());
  EXPECT_EQ(alltoall_rule(team, 8 * kKiB, true), Protocol::direct);
  EXPECT_EQ(alltoall_rule(team, 8 * kKiB, false), Protocol::pipeline);
  go_by(far_streamed());
  EXPECT_EQ(alltoall_rule(team, 1024 * kKiB, true), Protocol::pipeline);
  // Of two ranks a slice saves less than the steps take that it needs.
  EXPECT_EQ(allreduce_rule(team, 1024 * kKiB, true), Protocol::read_all);
}

}  // namespace
}  // namespace unisono::node
