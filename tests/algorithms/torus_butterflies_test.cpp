// Swing, bucket and Trivance where the ranks stand on a torus: against the checker, and what they
// promise in bytes and over links. On a ring in rank order they are in catalogue_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "algorithms/catalogue.h"
#include "algorithms/lattice_of_ranks.h"
#include "patterns/class_sums.h"
#include "schedule/checker.h"
#include "schedule/metrics.h"
#include "schedule/problem.h"
#include "topology/topology.h"

namespace unisono {
namespace {

using enum Collective;

Topology on_torus(const std::vector<int>& sizes, std::vector<int> host_of_rank) {
  TopologyLabels labels;
  const auto ranks = static_cast<int>(host_of_rank.size());
  labels.torus = {std::make_shared<const Torus>(sizes), Routing::minimal, std::move(host_of_rank)};
  return {ranks, labels};
}

std::vector<int> hosts_of_torus(const std::vector<int>& sizes) {
  std::vector<int> hosts(static_cast<std::size_t>(Torus(sizes).hosts()));
  std::iota(hosts.begin(), hosts.end(), 0);
  return hosts;
}

/// The ranks anywhere.
std::vector<int> shuffled(std::vector<int> hosts) {
  std::uint32_t state = 12345;
  for (std::size_t i = hosts.size(); i > 1; --i) {
    state = state * 1664525 + 1013904223;
    std::swap(hosts[i - 1], hosts[(state >> 8) % i]);
  }
  return hosts;
}

std::vector<std::pair<Collective, const Algorithm*>> torus_rows() {
  std::vector<std::pair<Collective, const Algorithm*>> result;
  for (const auto* name : {"swing", "swing_whole", "bucket", "trivance", "trivance_whole"})
    for (const Collective c :
         {allreduce, reduce_scatter, reduce_scatter_block, allgather, allgatherv})
      if (const Algorithm* row = find_algorithm(c, name)) result.emplace_back(c, row);
  return result;
}

void check_rows(const Topology& topology) {
  for (const auto& [collective, row] : torus_rows())
    for (const Count count : {Count{0}, Count{1}, Count{3}, Count{2 * topology.size() + 5}})
      for (const bool in_place : {false, true}) {
        if (count > 3 && collective != allreduce) continue;
        Problem problem{.collective = collective,
                        .size = topology.size(),
                        .count = count,
                        .in_place = in_place,
                        .gaps = collective == allgatherv,
                        .params = default_params(*row),
                        .topology = &topology};
        const ArgsOfRanks ranks(problem);
        const auto violation = check(ranks.args(), build_all(*row, ranks.args()));
        ASSERT_FALSE(violation) << name(collective) << " " << row->name << " count=" << count
                                << " in_place=" << in_place << "\n"
                                << violation->text();
      }
}

TEST(TorusButterflies, DoWhatMpiDefinesOnTori) {
  for (const std::vector<int>& sizes : std::vector<std::vector<int>>{{2, 2},
                                                                     {4, 4},
                                                                     {3, 3},
                                                                     {5, 4},
                                                                     {8, 3},
                                                                     {9, 2},
                                                                     {6, 7},
                                                                     {4, 4, 4},
                                                                     {3, 2, 5},
                                                                     {2, 2, 2, 2}}) {
    SCOPED_TRACE(Torus(sizes).text_of_link(0) + " of " + std::to_string(sizes.size()) + "-D");
    check_rows(on_torus(sizes, hosts_of_torus(sizes)));
    check_rows(on_torus(sizes, shuffled(hosts_of_torus(sizes))));
  }
}

TEST(TorusButterflies, DoWhatMpiDefinesOnPartsOfATorus) {
  const std::vector<int> sizes = {5, 4, 3};
  const Torus torus(sizes);
  std::vector<int> planes, line, some, several;
  for (const int host : hosts_of_torus(sizes)) {
    const auto at = torus.coordinates(host);
    if (at[0] != 2 && at[2] != 1) planes.push_back(host);
    if (at[0] == 3 && at[1] == 0) line.push_back(host);
    if (host % 7 == 3) some.push_back(host);
    if (host % 9 == 0) several.insert(several.end(), {host, host});
  }
  for (const auto& hosts : {planes, line, some, several, std::vector{7}}) {
    SCOPED_TRACE(std::to_string(hosts.size()) + " hosts from " + std::to_string(hosts[0]));
    check_rows(on_torus(sizes, hosts));
    check_rows(on_torus(sizes, shuffled(hosts)));
  }
}

TEST(TorusButterflies, ProductsOfCoordinatesAreALattice) {
  const std::vector<int> sizes = {5, 4, 3};
  const Torus torus(sizes);
  std::vector<int> planes;
  for (const int host : hosts_of_torus(sizes))
    if (torus.coordinate(host, 0) != 2 && torus.coordinate(host, 2) == 1) planes.push_back(host);
  const Topology topology = on_torus(sizes, shuffled(planes));
  const auto lattice = [&](const Topology& t) {
    return lattice_of_ranks(Args{.size = t.size(), .topology = &t});
  };
  const RankLattice product = lattice(topology);
  ASSERT_EQ(product.dimensions(), 2);
  EXPECT_EQ(product.points().size(0), 4);
  EXPECT_EQ(product.points().size(1), 4);
  for (int rank = 0; rank < topology.size(); ++rank) {
    EXPECT_EQ(product.rank(product.point(rank)), rank);
    const int x = torus.coordinate(topology.torus()->host_of(rank), 0);
    EXPECT_EQ(product.points().coordinate(product.point(rank), 0), x > 2 ? x - 1 : x);
  }
  planes.pop_back();
  EXPECT_EQ(lattice(on_torus(sizes, planes)).dimensions(), 1);
}

// ---- costs --------------------------------------------------------------------------------------

struct TorusCost {
  Metrics metrics;
  Count busiest = 0;  ///< units over the busiest link of the torus
};

TorusCost torus_cost(Collective collective, std::string_view algorithm,
                     const std::vector<int>& sizes, Count count) {
  const Topology topology = on_torus(sizes, hosts_of_torus(sizes));
  const Algorithm& row = *find_algorithm(collective, algorithm);
  Problem problem{.collective = collective,
                  .size = topology.size(),
                  .count = count,
                  .params = default_params(row),
                  .topology = &topology};
  const ArgsOfRanks ranks(problem);
  const auto schedules = build_all(row, ranks.args());
  const Torus& torus = topology.torus()->members().torus();
  std::map<LinkId, Count> load;
  for (int rank = 0; rank < topology.size(); ++rank)
    for (const Op& op : schedules[static_cast<std::size_t>(rank)].ops())
      if (op.kind == OpKind::send)
        torus.route(rank, op.peer, {}, [&](LinkId link) { load[link] += op.length; });
  TorusCost result{measure(schedules), 0};
  for (const auto& [link, units] : load) result.busiest = std::max(result.busiest, units);
  return result;
}

TEST(TorusButterflies, BytesAreTheFewestWithoutFolding) {
  for (const std::vector<int>& sizes :
       std::vector<std::vector<int>>{{8}, {4, 4}, {8, 8}, {4, 4, 4}, {4, 8}}) {
    const int p = Torus(sizes).hosts();
    const Count m = Count{p} * 6 * 10;  // all shares and parts are of one length
    for (const auto* name : {"swing", "bucket", "trivance"}) {
      EXPECT_EQ(torus_cost(allreduce, name, sizes, m).metrics.sent, 2 * (p - 1) * m / p) << name;
      if (std::string_view(name) == "trivance") continue;
      EXPECT_EQ(torus_cost(allgather, name, sizes, 60).metrics.sent, (p - 1) * 60) << name;
      EXPECT_EQ(torus_cost(reduce_scatter_block, name, sizes, 60).metrics.sent, (p - 1) * 60)
          << name;
    }
  }
}

// All links carry the same: on a torus of equal sides the 2k-th part of what a rank must send.
TEST(TorusButterflies, BucketIsOptimalOnEqualSides) {
  for (const std::vector<int>& sizes :
       std::vector<std::vector<int>>{{9}, {4, 4}, {5, 5}, {3, 3, 3}}) {
    const auto k = std::ssize(sizes);
    const int p = Torus(sizes).hosts();
    const Count m = Count{p} * 2 * k * 10;
    EXPECT_EQ(torus_cost(allreduce, "bucket", sizes, m).busiest, 2 * (p - 1) * m / p / (2 * k));
  }
}

/// Of the optimum of the busiest link, when all links carry the same.
double deficiency(std::string_view name, const std::vector<int>& sizes) {
  const int p = Torus(sizes).hosts();
  const auto k = static_cast<double>(sizes.size());
  const Count m = Count{p} * 6 * 10;
  return static_cast<double>(torus_cost(allreduce, name, sizes, m).busiest) /
         (2.0 * (p - 1) * static_cast<double>(m) / p / (2 * k));
}

// The paper's 1.19 and 1.03 are limits of large tori.
TEST(TorusButterflies, SwingIsNearTheOptimum) {
  EXPECT_LE(deficiency("swing", {8, 8}), 1.20);
  EXPECT_LE(deficiency("swing", {16, 16}), 1.20);
  EXPECT_LE(deficiency("swing", {8, 8, 8}), 1.04);
}

TEST(TorusButterflies, TrivanceTakesTheLogarithmToTheBaseThree) {
  const std::map<int, int> steps = {{2, 1}, {3, 1},  {4, 2},  {8, 2},
                                    {9, 2}, {10, 3}, {27, 3}, {64, 4}};
  for (const auto& [n, expected] : steps) {
    const RankLattice ring(Torus({n}));
    for (int rank = 0; rank < n; ++rank)
      EXPECT_EQ(std::ssize(class_sums(ring, rank, 0)), expected) << n;
    EXPECT_EQ(torus_cost(allreduce, "trivance_whole", {n}, 10).metrics.depth, expected) << n;
  }
  EXPECT_EQ(torus_cost(allreduce, "trivance_whole", {9, 9}, 10).metrics.depth, 4);
  EXPECT_EQ(torus_cost(allreduce, "trivance_whole", {8, 8, 8}, 10).metrics.depth, 6);
  EXPECT_EQ(torus_cost(allreduce, "swing_whole", {8, 8}, 12).metrics.depth, 6);
}

// On a ring of 3^K the steps' distances are 1, 3, ..., so that m goes over each link, each way, as
// often as their sum says; Bruck's takes all its distances one way round, three times as much.
TEST(TorusButterflies, TrivanceUsesBothWaysRound) {
  EXPECT_EQ(torus_cost(allreduce, "trivance_whole", {27}, 10).busiest, (1 + 3 + 9) * 10);
  EXPECT_EQ(torus_cost(allreduce, "trivance_whole", {9, 9}, 20).busiest, (1 + 3) * 20);
}

}  // namespace
}  // namespace unisono
