// What the algorithms that predict arrivals promise: how much is left to do when the last rank
// comes, counted on their schedules, whichever rank it is.
#include <gtest/gtest.h>

#include <array>
#include <bit>

#include "algorithms/catalogue.h"
#include "patterns/arrival.h"
#include "schedule/metrics.h"
#include "schedule/problem.h"

namespace unisono {
namespace {

class AfterArrival : public testing::TestWithParam<int> {
 protected:
  const int p = GetParam();
  const int q = std::bit_width(static_cast<unsigned>(p - 1));
  const Count segments = 4 * Count{p};
  const Count vector = segments * (p - 1) * p;

  /// `predicted` may be wrong. Segments so that the vector has `segments`.
  Remainder left(Collective collective, std::string_view algorithm, int late, int predicted,
                 int root = 0) const {
    const Algorithm& row = *find_algorithm(collective, algorithm);
    Problem problem{
        .collective = collective, .size = p, .root = root, .params = default_params(row)};
    problem.count = vector;
    if (problem.params.segment > 0) problem.params.segment = vector / segments;
    if (algorithm == "straggler") problem.params.segment = vector;
    problem.params.late = intern({predicted});
    const ArgsOfRanks ranks(problem);
    return after_arrival(build_all(row, ranks.args(), late), std::array{late});
  }
  Remainder left(Collective collective, std::string_view algorithm, int late) const {
    return left(collective, algorithm, late, late, late == 0 ? p - 1 : 0);
  }
  std::vector<int> ranks() const { return {0, 1, p / 2, p - 1}; }
};
INSTANTIATE_TEST_SUITE_P(Sizes, AfterArrival,
                         testing::Values(3, 4, 5, 8, 13, 16, 17, 32, 33, 64, 100));

TEST_P(AfterArrival, StragglerTakesFarFewerRoundsThanARing) {
  using enum Collective;
  for (const int late : ranks()) {
    const Remainder straggler = left(allreduce, "straggler", late);
    EXPECT_GE(straggler.rounds, p - 1);  // of m / (p - 1): the bound
    // p - 1 + q, if every port did what it is idle for; as counted, without planning, some wait.
    EXPECT_LE(straggler.rounds, (4 * (p - 1) + 2) / 3 + q);
    EXPECT_LE(straggler.units, vector + 2 * q * vector / (p - 1));
    const Remainder ring = left(allreduce, "ring", late);
    EXPECT_GE(ring.rounds, 2 * (p - 1));  // of m / p
    EXPECT_EQ(ring.units, 2 * (p - 1) * vector / p);
  }
}

TEST_P(AfterArrival, SortedPassesTheVectorOnce) {
  using enum Collective;
  for (const int late : ranks()) {
    EXPECT_EQ(left(allreduce, "sorted", late).rounds, segments + p - 1);
    EXPECT_EQ(left(allreduce, "sorted", late).units, vector);
    EXPECT_EQ(left(reduce, "sorted", late).rounds, segments + 1);
    const Remainder bcast = left(Collective::bcast, "sorted", late);
    EXPECT_EQ(bcast.rounds, segments);
    for (int rank = 0; rank < p; ++rank)
      if (rank != late && !(rank == (late == 0 ? p - 1 : 0) || rank == p - 1 || rank == p - 2)) {
        EXPECT_EQ(bcast.rounds_of_rank[static_cast<std::size_t>(rank)], 0) << rank;
      }
  }
}

TEST_P(AfterArrival, ArrivalChainLeavesTheVectorToTheLateRankAlone) {
  for (const int late : ranks()) {
    const Remainder chain = left(Collective::bcast, "arrival_chain", late);
    EXPECT_EQ(chain.rounds, 2 + segments);  // its token, word of its neighbours, the vector
    EXPECT_EQ(chain.units, vector);
    EXPECT_DOUBLE_EQ(chain.mean_received * p, static_cast<double>(vector));
    for (int rank = 0; rank < p; ++rank)
      if (rank != late && rank != (late == 0 ? p - 1 : 0)) {
        EXPECT_EQ(chain.rounds_of_rank[static_cast<std::size_t>(rank)], 0) << rank;
      }
  }
}

TEST_P(AfterArrival, PreReducedRingPassesTheVectorLittleMoreThanOnce) {
  for (const int late : ranks()) {
    const Remainder remainder = left(Collective::allreduce, "pre_reduced_ring", late);
    EXPECT_LE(remainder.units, vector + 2 * vector / (p - 1));
  }
}

TEST_P(AfterArrival, AllgatherStragglerLeavesOneBlockToTheEarlyRanks) {
  for (const int late : ranks()) {
    const Remainder straggler = left(Collective::allgather, "straggler", late);
    EXPECT_EQ(straggler.units, (p - 1) * vector);  // the late rank's, the bound
    EXPECT_DOUBLE_EQ(straggler.mean_received * p, 2.0 * (p - 1) * static_cast<double>(vector));
    for (int rank = 0; rank < p; ++rank)
      if (rank != late && rank != (late + 1) % p) {
        EXPECT_LE(straggler.rounds_of_rank[static_cast<std::size_t>(rank)], q);
      }
  }
}

// A wrong prediction costs what the other algorithms cost, or waits; the checker's tests over the
// catalogue show that the result is right.
TEST_P(AfterArrival, AWrongPredictionCostsNoMoreThanTwiceTheVector) {
  for (const int late : ranks()) {
    const Remainder straggler =
        left(Collective::allreduce, "straggler", late, late == 0 ? p - 1 : 0);
    EXPECT_LE(straggler.units, 2 * vector + 2 * q * vector / (p - 1));
  }
}

TEST(ArrivalOrder, ListsTheLateRanksLast) {
  Args args;
  args.size = 6;
  const auto order_of = [&](std::vector<int> late) {
    args.params.late = intern(late);
    const ArrivalOrder order(args);
    std::vector<int> ranks;
    for (int v = 0; v < args.size; ++v) {
      ranks.push_back(order.rank(v));
      EXPECT_EQ(order.position(order.rank(v)), v);
    }
    return ranks;
  };
  EXPECT_EQ(order_of({4, 1}), (std::vector{0, 2, 3, 5, 4, 1}));
  EXPECT_EQ(order_of({9}), (std::vector{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(order_of({5, 4, 3, 2, 1, 0}), (std::vector{5, 4, 3, 2, 1, 0}));
  args.params.late = nullptr;
  EXPECT_EQ(ArrivalOrder(args).last(), 5);
  EXPECT_EQ(intern({4, 1}), intern({4, 1}));
  EXPECT_NE(intern({4, 1}), intern({1, 4}));
}

}  // namespace
}  // namespace unisono
