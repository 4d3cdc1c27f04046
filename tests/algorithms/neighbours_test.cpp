// Every row of the catalogue that serves collectives among neighbours, against the checker: numbers
// of ranks x topologies x counts x displacements x nodes x parameters.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <sstream>

#include "algorithms/catalogue.h"
#include "schedule/checker.h"
#include "schedule/metrics.h"
#include "schedule/problem.h"
#include "topology/topology.h"

namespace unisono {
namespace {

struct Named {
  std::string name;
  NeighbourGraph graph;
};

std::vector<int> nearly_square(int p) {
  int columns = 1;
  for (int d = 1; d * d <= p; ++d)
    if (p % d == 0) columns = d;
  return {p / columns, columns};
}

/// One rank sends to all others, and gets nothing.
NeighbourGraph star(int p) {
  std::vector<Neighbourhood> ranks(static_cast<std::size_t>(p));
  for (int r = 1; r < p; ++r) {
    ranks[0].destinations.push_back(r);
    ranks[static_cast<std::size_t>(r)].sources.push_back(0);
  }
  return NeighbourGraph(std::move(ranks));
}

/// With ranks that have no neighbours, that are their own, or the same one several times.
NeighbourGraph drawn(int p, int edges) {
  std::vector<Neighbourhood> ranks(static_cast<std::size_t>(p));
  std::minstd_rand random(static_cast<unsigned>(p));
  const auto draw = [&random](int n) {
    return static_cast<int>(random() % static_cast<unsigned>(n));
  };
  for (int edge = 0; edge < edges; ++edge) {
    const int from = draw(p), to = draw(3) == 0 ? (from + 1) % p : draw(p);
    ranks[static_cast<std::size_t>(from)].destinations.push_back(to);
    ranks[static_cast<std::size_t>(to)].sources.push_back(from);
  }
  return NeighbourGraph(std::move(ranks));
}

std::vector<Named> graphs(int p) {
  const std::vector<int> grid = nearly_square(p), line{p}, flat{1, p, 1};
  return {{"line", cartesian_graph(line, std::vector{0})},
          {"ring", cartesian_graph(line, std::vector{1})},
          {"half periodic", cartesian_graph(grid, std::vector{0, 1})},
          {"dimensions of one", cartesian_graph(flat, std::vector{1, 1, 0})},
          {"stencil", moore_graph(grid)},
          {"star", star(p)},
          {"drawn", drawn(p, 3 * p)},
          {"few", drawn(p, p / 2)}};
}

class Neighbours : public testing::TestWithParam<Collective> {
 protected:
  /// Of a row with these parameters, on this graph: all counts.
  static void check_all(const Algorithm& row, Problem problem, const std::string& where) {
    problem.collective = GetParam();
    for (const Count count : {0, 1, 5})
      for (const bool gaps : {false, true}) {
        if (gaps && !is_irregular(problem.collective)) continue;
        problem.count = count, problem.gaps = gaps;
        const ArgsOfRanks ranks(problem);
        if (problem.graph->edges().empty()) continue;  // not even counts
        ASSERT_FALSE(unmet_restriction(row, ranks[0])) << where;
        const auto violation = check(ranks.args(), build_all(row, ranks.args()));
        ASSERT_FALSE(violation) << where << " count " << count << ": " << violation->text();
      }
  }
  static const Algorithm& row(const char* name) { return *find_algorithm(GetParam(), name); }
};

constexpr int kSizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 24, 27, 33};

TEST_P(Neighbours, LinearDoesWhatMpiDefines) {
  for (const int p : kSizes)
    for (const auto& [name, graph] : graphs(p))
      check_all(row("linear"), {.size = p, .graph = &graph}, name + " of " + std::to_string(p));
}

TEST_P(Neighbours, SharedMemoryHasAModel) {
  const std::vector<int> grid{4, 2};
  const NeighbourGraph stencil = moore_graph(grid);
  check_all(row("shm"), {.size = 8, .graph = &stencil}, "stencil");
}

TEST_P(Neighbours, RowsDoWhatMpiDefines) {
  for (const int p : kSizes)
    for (const auto& [name, graph] : graphs(p))
      for (const int length : {0, 1, 2, 3, 7, p}) {
        Problem problem{.size = p, .graph = &graph};
        problem.params.radix = length;
        check_all(row("rows"), problem, name + " of " + std::to_string(p));
      }
}

TEST_P(Neighbours, NodesDoWhatMpiDefines) {
  for (const int p : kSizes)
    for (const auto& [name, graph] : graphs(p))
      for (const int nodes : {1, 2, 3, p})
        for (const bool in_turn : {false, true}) {
          TopologyLabels labels;
          for (int r = 0; r < p; ++r)
            labels.at(Level::node).push_back(in_turn ? r % nodes : r * nodes / p);
          const Topology topology(p, labels);
          check_all(row("nodes"), {.size = p, .topology = &topology, .graph = &graph},
                    name + " of " + std::to_string(p) + " on " + std::to_string(nodes));
        }
}

INSTANTIATE_TEST_SUITE_P(All, Neighbours,
                         testing::Values(Collective::neighbor_allgather,
                                         Collective::neighbor_allgatherv,
                                         Collective::neighbor_alltoall,
                                         Collective::neighbor_alltoallv,
                                         Collective::neighbor_alltoallw),
                         [](const auto& info) { return std::string(name(info.param)); });

Metrics metrics(const char* algorithm, Collective c, const NeighbourGraph& graph,
                const Topology* topology) {
  const ArgsOfRanks ranks(
      {.collective = c, .size = graph.size(), .count = 10, .topology = topology, .graph = &graph});
  return measure(build_all(*find_algorithm(c, algorithm), ranks.args()));
}

TEST(NeighboursCost, RowsSendFewMessagesForAStencil) {
  const std::vector<int> square{4, 4}, cube{3, 3, 3};
  for (const Collective c : {Collective::neighbor_allgather, Collective::neighbor_alltoall}) {
    EXPECT_EQ(metrics("linear", c, moore_graph(square), nullptr).messages, 8);
    EXPECT_EQ(metrics("rows", c, moore_graph(square), nullptr).messages, 4);
    EXPECT_EQ(metrics("linear", c, moore_graph(cube), nullptr).messages, 26);
    EXPECT_EQ(metrics("rows", c, moore_graph(cube), nullptr).messages, 10);
  }
  // Both sides' blocks go on from the row: 2 of 10 units each, then 3 in each of 2 messages.
  EXPECT_EQ(metrics("rows", Collective::neighbor_allgather, moore_graph(square), nullptr).sent, 80);
}

TEST(NeighboursCost, NodesSendOneMessageToEachOtherNode) {
  const std::vector<int> ring{16}, periodic{1};
  TopologyLabels labels;  // in turn: every edge goes to another node
  for (int r = 0; r < 16; ++r) labels.at(Level::node).push_back(r % 4);
  const Topology topology(16, labels);
  const NeighbourGraph graph = cartesian_graph(ring, periodic);
  int between = 0, edges = 0;
  const ArgsOfRanks ranks({.collective = Collective::neighbor_alltoall,
                           .size = 16,
                           .count = 10,
                           .topology = &topology,
                           .graph = &graph});
  const auto schedules =
      build_all(*find_algorithm(Collective::neighbor_alltoall, "nodes"), ranks.args());
  for (int r = 0; r < 16; ++r)
    for (const Op& op : schedules[static_cast<std::size_t>(r)].ops())
      if (op.kind == OpKind::send && op.peer % 4 != r % 4) ++between;
  for (const NeighbourGraph::Edge& edge : graph.edges())
    edges += edge.from % 4 != edge.to % 4 ? 1 : 0;
  EXPECT_EQ(edges, 32);
  EXPECT_EQ(between, 8);  // each of 4 nodes to the 2 beside it
}

TEST(NeighbourGraph, PairsMatchAcrossPeriodicDimensionsOfTwoAndOne) {
  const std::vector<int> two{2}, one{1}, periodic{1};
  const NeighbourGraph both = cartesian_graph(two, periodic);
  ASSERT_EQ(both.edges().size(), 4U);
  for (const NeighbourGraph::Edge& edge : both.edges())
    EXPECT_EQ(edge.sent, 1 - edge.received);  // what goes down comes from above
  const NeighbourGraph alone = cartesian_graph(one, periodic);
  ASSERT_EQ(alone.edges().size(), 2U);
  EXPECT_EQ(alone.edges()[0].received, 1);
  EXPECT_EQ(alone.of(0).to_itself(0), (std::vector<std::pair<int, int>>{{0, 1}, {1, 0}}));
}

TEST(NeighbourGraph, IsConnectedAgainstTheDirectionToo) {
  EXPECT_TRUE(star(5).is_connected());
  EXPECT_FALSE(drawn(12, 3).is_connected());
  const std::vector<int> line{4}, open{0};
  EXPECT_TRUE(cartesian_graph(line, open).is_connected());
}

TEST(NeighbourGraph, HasParallelEdgesWhereBothSidesOfAGridAreOneRank) {
  const std::vector<int> one{1}, two{2}, three{3}, open{0}, periodic{1};
  EXPECT_FALSE(star(5).has_parallel_edges());
  EXPECT_FALSE(cartesian_graph(three, periodic).has_parallel_edges());
  EXPECT_FALSE(cartesian_graph(two, open).has_parallel_edges());
  EXPECT_TRUE(cartesian_graph(two, periodic).has_parallel_edges());
  EXPECT_TRUE(cartesian_graph(one, periodic).has_parallel_edges());
}

}  // namespace
}  // namespace unisono
