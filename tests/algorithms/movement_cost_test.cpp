// What the rows for moving data promise in rounds and bytes, counted on their schedules.
#include <gtest/gtest.h>

#include <bit>
#include <functional>

#include "algorithms/catalogue.h"
#include "schedule/metrics.h"
#include "schedule/problem.h"

namespace unisono {

namespace {

constexpr Count kBlock = 10;

Metrics metrics(Collective collective, std::string_view algorithm, int p,
                const std::function<void(Problem&)>& change = {}) {
  const Algorithm& row = *find_algorithm(collective, algorithm);
  Problem problem;
  problem.collective = collective;
  problem.size = p;
  problem.root = p / 2;
  problem.count = kBlock;
  problem.params = default_params(row);
  if (change) change(problem);
  const ArgsOfRanks ranks(problem);
  std::vector<Schedule> schedules;
  for (const Args& args : ranks.args()) schedules.push_back(build(row, args));
  return measure(schedules);
}

void radix_2(Problem& problem) { problem.params.radix = 2; }

class MovementCost : public testing::TestWithParam<int> {
 protected:
  const int p = GetParam();
  const int q = std::bit_width(static_cast<unsigned>(p - 1));
};
INSTANTIATE_TEST_SUITE_P(Sizes, MovementCost, testing::Values(2, 3, 5, 8, 13, 16, 31, 32, 33));

TEST_P(MovementCost, AllgathersReceiveEveryBlockOnce) {
  using enum Collective;
  const Count all = (p - 1) * kBlock;
  for (const auto* name : {"ring", "bruck", "circulant"})
    EXPECT_EQ(metrics(allgather, name, p).received, all) << name;
  EXPECT_EQ(metrics(allgather, "ring", p).rounds, p - 1);
  EXPECT_EQ(metrics(allgather, "bruck", p, radix_2).rounds, q);
  EXPECT_LE(metrics(allgather, "circulant", p).depth, q);
  EXPECT_LE(metrics(allgather, "circulant", p).messages, 2 * q - 1);
  EXPECT_LE(metrics(allgather, "recursive_doubling", p).rounds, q + 1);
  if (p % 2 == 0) {
    EXPECT_EQ(metrics(allgather, "neighbour_exchange", p).rounds, p / 2);
    EXPECT_EQ(metrics(allgather, "neighbour_exchange", p).received, all);
  }
}

TEST_P(MovementCost, AllgathersCopyOnlyTheOwnBlockWhereTheBlocksAreAdjacent) {
  for (const auto* name : {"ring", "recursive_doubling", "circulant", "gather_bcast"})
    EXPECT_EQ(metrics(Collective::allgather, name, p).copied, kBlock) << name;
}

TEST_P(MovementCost, GatherAndScatterTreesMirrorEachOther) {
  using enum Collective;
  for (const auto* name : {"binomial", "knomial"}) {
    const Metrics up = metrics(gather, name, p), down = metrics(scatter, name, p);
    EXPECT_EQ(up.received, (p - 1) * kBlock) << name;
    EXPECT_EQ(down.sent, (p - 1) * kBlock) << name;
    EXPECT_EQ(up.rounds, down.rounds) << name;
    EXPECT_LE(up.scratch, (p + 1) / 2 * kBlock) << name;
  }
  EXPECT_EQ(metrics(gather, "binomial", p).rounds, q);
}

// In segments as long as a block the root's port has no pause but while the tree fills.
TEST_P(MovementCost, GatherAndScatterTreesInSegmentsArePipelines) {
  using enum Collective;
  const auto by_blocks = [](Problem& problem) { problem.params.segment = kBlock; };
  for (const auto* name : {"binomial", "knomial"}) {
    for (const Collective c : {gather, scatter})
      EXPECT_LE(metrics(c, name, p, by_blocks).rounds, p - 1 + q) << name;
    EXPECT_EQ(metrics(scatter, name, p, by_blocks).messages, p - 1) << name;
  }
}

TEST_P(MovementCost, AlltoallsSendABlockOnceOrForEveryDigitOfItsDistance) {
  using enum Collective;
  for (const auto* name : {"simple", "spread_out", "ring"}) {
    const Metrics m = metrics(alltoall, name, p);
    EXPECT_EQ(m.sent, (p - 1) * kBlock) << name;
    EXPECT_EQ(m.rounds, p - 1) << name;
    EXPECT_EQ(m.scratch, 0) << name;
  }
  EXPECT_EQ(metrics(alltoall, "simple", p).depth, 1);
  Count hops = 0;
  for (int d = 1; d < p; ++d) hops += std::popcount(static_cast<unsigned>(d));
  EXPECT_EQ(metrics(alltoall, "bruck", p, radix_2).sent, hops * kBlock);
  EXPECT_EQ(metrics(alltoall, "bruck", p, radix_2).rounds, q);
}

TEST_P(MovementCost, TheWindowOfSpreadOutMakesGroupsThatWaitForEachOther) {
  for (const Count window : {1, 3, 64}) {
    const auto set_window = [&](Problem& problem) { problem.params.window = window; };
    EXPECT_EQ(metrics(Collective::alltoall, "spread_out", p, set_window).depth,
              (p - 1 + window - 1) / window);
  }
}

TEST_P(MovementCost, ScansTakeLogarithmicRoundsOrBecomePipelines) {
  constexpr Count kSegments = 6;
  const auto pipelined = [](Problem& problem) {
    problem.count = kSegments * kBlock;
    problem.params.segment = kBlock;
  };
  for (const Collective c : {Collective::scan, Collective::exscan}) {
    EXPECT_EQ(metrics(c, "recursive_doubling", p).rounds, q);
    EXPECT_EQ(metrics(c, "linear", p).rounds, p - 1);
    EXPECT_EQ(metrics(c, "chain", p, pipelined).rounds, p - 2 + kSegments);
  }
}

}  // namespace

}  // namespace unisono
