// The oracles: what is known of schedules that lose nothing, a count of messages at a port, and the
// closed forms at numbers of ranks that nobody walks through.
#include "model/price.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "algorithms/composition.h"
#include "model/node_phase.h"

namespace unisono {
namespace {

using enum Collective;

constexpr double kEthernetAlpha = 5e-5, kEthernetBeta = 8e-8;  // 100 Mb/s

Machine ethernet(Incast incast = kCheapSwitch) {
  Machine machine;
  machine.levels[kBetweenNodes] = hockney(kEthernetAlpha, kEthernetBeta);
  machine.gamma = 3e-10;
  machine.incast = incast;
  return machine;
}

double seconds(std::string_view algorithm, const PricedCall& call, const Machine& machine) {
  const Algorithm& row = *find_algorithm(call.collective, algorithm);
  const auto priced = price(row, default_params(row), call, machine);
  EXPECT_TRUE(priced) << algorithm;
  return priced.value_or(0);
}

/// How many timeouts stand one after the other.
long timeouts(std::string_view algorithm, const PricedCall& call) {
  const double with = seconds(algorithm, call, ethernet());
  const double without = seconds(algorithm, call, ethernet({}));
  return std::lround((with - without) / kCheapSwitch.timeout);
}

TEST(Price, WhatOnePortNeverGetsFromSeveralIsNeverLost) {
  for (const int p : {2, 5, 7, 13, 24}) {
    EXPECT_EQ(timeouts("chain", {.collective = bcast, .ranks = p, .nodes = p, .bytes = 1 << 20}),
              0);
    EXPECT_EQ(
        timeouts("ring", {.collective = allgather, .ranks = p, .nodes = p, .bytes = 64 << 10}), 0);
    EXPECT_EQ(timeouts("paced", {.collective = scatter, .ranks = p, .nodes = p, .bytes = 32 << 10}),
              0);
  }
}

// A send is complete when the operating system has it: who goes by that posts all at once. They
// wait at their own port, which drops nothing; in the lab all of these take what the wire takes.
TEST(Price, WhatARankHasPostedWaitsAtItsOwnPort) {
  const auto flat = [](int p, Count bytes) {
    return timeouts("flat", {.collective = scatter, .ranks = p, .nodes = p, .bytes = bytes});
  };
  for (const int p : {3, 4, 13})
    for (const Count bytes : {4 << 10, 32 << 10, 1 << 20}) EXPECT_EQ(flat(p, bytes), 0) << p;
  const PricedCall call{.collective = scatter, .ranks = 7, .nodes = 7, .bytes = 32 << 10};
  const Algorithm& paced = *find_algorithm(scatter, "paced");
  for (const int window : {1, 2, 3})
    EXPECT_LT(price(paced, {.window = window}, call, ethernet()), 0.02) << window;
}

double risk_of(std::string_view algorithm, const PricedCall& call) {
  const Algorithm& row = *find_algorithm(call.collective, algorithm);
  return risk(row, default_params(row), call, ethernet(), seconds(algorithm, call, ethernet()));
}

// Nothing keeps the ranks of a ring of an alltoall in step but that each waits for its partners.
TEST(Price, WhoeverDriftsApartRisksTimeouts) {
  for (const int p : {7, 13}) {
    EXPECT_GT(risk_of("ring", {.collective = alltoall, .ranks = p, .nodes = p, .bytes = 32 << 10}),
              0.05);
    EXPECT_EQ(risk_of("ring_barrier",
                      {.collective = alltoall, .ranks = p, .nodes = p, .bytes = 32 << 10}),
              0);
    EXPECT_EQ(risk_of("ring", {.collective = allgather, .ranks = p, .nodes = p, .bytes = 32 << 10}),
              0);
    EXPECT_EQ(risk_of("chain", {.collective = bcast, .ranks = p, .nodes = p, .bytes = 1 << 20}), 0);
    EXPECT_EQ(risk_of("paced", {.collective = scatter, .ranks = p, .nodes = p, .bytes = 32 << 10}),
              0);
  }
}

TEST(Price, ManyThatSendToOneLoseAndWaitOnce) {
  const auto flat = [](int p, Count bytes) {
    return timeouts("flat", {.collective = gather, .ranks = p, .nodes = p, .bytes = bytes});
  };
  EXPECT_EQ(flat(3, 32 << 10), 0);   // two windows: just what the port holds
  EXPECT_EQ(flat(4, 32 << 10), 1);   // three
  EXPECT_EQ(flat(13, 32 << 10), 1);  // all that lost wait at the same time
  EXPECT_EQ(flat(13, 4 << 10), 0);   // 48K altogether
  EXPECT_EQ(flat(24, 4 << 10), 1);   // 92K
  EXPECT_EQ(flat(3, 1 << 20), 0);    // two streams share the port, as TCP does
}

TEST(Price, WhoAsksForItsBlocksLosesNone) {
  for (const int p : {4, 7, 13})
    EXPECT_EQ(timeouts("paced", {.collective = gather, .ranks = p, .nodes = p, .bytes = 32 << 10}),
              0);
}

// All that a rank has posted is under way at once: each of its connections is a sender.
TEST(Price, AnAlltoallLosesUnlessFewSendToOne) {
  const PricedCall call{.collective = alltoall, .ranks = 7, .nodes = 7, .bytes = 32 << 10};
  EXPECT_GE(timeouts("simple", call), 1);
  EXPECT_GE(timeouts("spread_out", call), 1);  // four at a time
  const Algorithm& spread = *find_algorithm(alltoall, "spread_out");
  EXPECT_GT(price(spread, {.window = 1}, call, ethernet()), kCheapSwitch.timeout);
  EXPECT_EQ(timeouts("ring", call), 0);
  EXPECT_EQ(timeouts("ring_light_barrier", call), 0);
}

TEST(Price, RanksOfOneNodeAreOneSender) {
  // Two nodes of eight: whatever goes over the port comes from the other node alone.
  EXPECT_EQ(timeouts("flat", {.collective = bcast, .ranks = 2, .nodes = 2, .bytes = 1 << 20}), 0);
  Machine machine = ethernet();
  machine.levels[kWithinNode] = hockney(1e-6, 1e-10);
  const PricedCall call{.collective = gather, .ranks = 16, .nodes = 2, .bytes = 32 << 10};
  EXPECT_LT(seconds("flat", call, machine), kCheapSwitch.timeout);
}

TEST(Price, MoreRanksThanAreWalkedThroughContinueTheClosedForms) {
  const Machine machine = ethernet({});
  for (const int p : {96, 128, 1000, 1024, 4096}) {
    const auto of = [&](std::string_view algorithm, Collective collective, Count bytes) {
      return seconds(algorithm, {.collective = collective, .ranks = p, .nodes = p, .bytes = bytes},
                     machine);
    };
    const double message = kEthernetAlpha + 1000 * kEthernetBeta;
    EXPECT_NEAR(of("flat", bcast, 1000) / ((p - 1) * message), 1, 1e-6) << p;
    EXPECT_NEAR(of("ring", allgather, 1000) / ((p - 1) * message), 1, 1e-6) << p;
    EXPECT_NEAR(of("binomial", bcast, 1000) / (std::log2(p) * message), 1, 1e-6) << p;
    const double segment = kEthernetAlpha + 16384 * kEthernetBeta;
    EXPECT_NEAR(of("chain", bcast, 1 << 20) / ((p - 2 + 64) * segment), 1, 1e-6) << p;
  }
}

TEST(Price, ACallOfMoreRanksTakesNoLessTime) {
  const Machine machine = ethernet({});
  for (const auto& [collective, algorithm] : {std::pair{bcast, "circulant"},
                                              {bcast, "scatter_allgather"},
                                              {reduce, "circulant"},
                                              {allreduce, "rabenseifner"},
                                              {allreduce, "ring"}}) {
    double before = 0;
    for (const int p : {64, 100, 128, 1024, 1'000'000}) {
      const double now = seconds(
          algorithm, {.collective = collective, .ranks = p, .nodes = p, .bytes = 1 << 20}, machine);
      EXPECT_GE(now, before) << algorithm << " on " << p;
      before = now;
    }
  }
}

TEST(Price, TheOrderOfAlgorithmsTurnsWithTheRanks) {
  const Machine machine = ethernet({});
  const auto best = [&](int p) {
    const PricedCall call{.collective = bcast, .ranks = p, .nodes = p, .bytes = 512 << 10};
    return seconds("chain", call, machine) < seconds("scatter_allgather", call, machine);
  };
  EXPECT_TRUE(best(13));
  EXPECT_FALSE(best(4096));
}

/// Ranks on nodes as numbered; a network, and within nodes messages and kernels.
class OnNodes : public testing::Test {
 protected:
  static Topology topology_of(const std::vector<int>& nodes) {
    TopologyLabels labels;
    labels.at(Level::node) = nodes;
    return {static_cast<int>(nodes.size()), labels};
  }
  static std::vector<int> in_turn(int nodes, int on_each) {
    std::vector<int> placed;
    for (int r = 0; r < nodes * on_each; ++r) placed.push_back(r % nodes);
    return placed;
  }
  static Machine machine() {
    Machine known = ethernet({});
    known.levels[kWithinNode] = hockney(1e-6, 1e-10);
    known.kernels = kKernels;
    return known;
  }
  static NestedSpec nested(Collective collective, std::string_view name) {
    const Algorithm* row = find_algorithm(collective, name);
    return {row, default_params(*row)};
  }
  /// By nodes, which run shm, with `columns` between them.
  static std::optional<double> grid(const PricedCall& call, Form form, std::string_view columns,
                                    std::string_view rows = "shm") {
    const FormRow& row = *find_form(call.collective, form);
    Composition composition{.levels = {Level::node}, .form = form};
    if (rows != "native")
      composition.rows = {nested(row.first, rows), nested(row.second.value_or(row.first), rows)};
    composition.columns = nested(row.columns, columns);
    Params params;
    params.composition = intern(composition);
    return price(*find_algorithm(call.collective, "grid"), params, call, machine());
  }
  static double in_node(Collective collective, int ranks, Count bytes) {
    GroupCall call{.collective = collective, .in_node = true, .count = bytes};
    call.group.ranks.resize(static_cast<std::size_t>(ranks));
    return node_seconds(call, 1, kKernels);
  }
  static constexpr NodeKernels kKernels{{.step = 2000}, 2, WaitMode::spin};
};

TEST_F(OnNodes, PhasesOfAGridAddUp) {
  constexpr Count kBytes = 50000;
  const double message = kEthernetAlpha + kEthernetBeta * kBytes;
  const Topology topology = topology_of(in_turn(4, 3));
  const auto priced = [&](Collective collective, Form form, std::string_view columns) {
    return grid({collective, 12, 4, kBytes, 0, true, &topology}, form, columns).value_or(0);
  };
  const double in_row = in_node(bcast, 3, kBytes);
  ASSERT_GT(in_row, 0);
  EXPECT_NEAR(priced(bcast, Form::leaders, "binomial"), 2 * message + in_row, 1e-9);
  const double sums = 2 * (message + 3e-10 * kBytes);
  EXPECT_NEAR(priced(allreduce, Form::leaders, "recursive_doubling"),
              in_node(reduce, 3, kBytes) + sums + in_row, 1e-9);
  // Every column moves all blocks of its ranks over the node's one port.
  EXPECT_NEAR(priced(allgather, Form::lanes, "ring"),
              in_node(allgather, 3, kBytes) + 3 * 3 * (kEthernetAlpha + kEthernetBeta * 3 * kBytes),
              1e-6);
  EXPECT_NEAR(priced(barrier, Form::leaders, "dissemination"), 2 * 2e-6 + 2 * kEthernetAlpha, 1e-9);
}

TEST_F(OnNodes, APhaseBeginsWhenItsLastRankIsThere) {
  // The third node has one rank, which is through its phase at once.
  const Topology topology = topology_of({0, 0, 0, 1, 1, 2});
  const PricedCall call{bcast, 6, 3, 50000, 0, true, &topology};
  const double message = kEthernetAlpha + kEthernetBeta * 50000;
  // The root's node is the last: its leader has sent to two others before.
  EXPECT_NEAR(grid(call, Form::leaders, "flat").value_or(0), 2 * message + in_node(bcast, 3, 50000),
              1e-9);
}

// A ring in rank order crosses the network at every step if ranks are placed in turn.
TEST_F(OnNodes, ThePlacementCountsForARingAndNotForAGrid) {
  const Topology in_blocks = topology_of({0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3});
  const Topology turns = topology_of(in_turn(4, 3));
  const auto ring = [](const Topology& topology) {
    const PricedCall call{allgather, 12, 4, 32 << 10, 0, true, &topology};
    return seconds("ring", call, machine());
  };
  EXPECT_GT(ring(turns), 2.5 * ring(in_blocks));
  const PricedCall one{allgather, 12, 4, 32 << 10, 0, true, &in_blocks};
  PricedCall other = one;
  other.topology = &turns;
  EXPECT_NEAR(*grid(one, Form::leaders, "ring"), *grid(other, Form::leaders, "ring"), 1e-9);
  EXPECT_LT(*grid(other, Form::leaders, "ring"), ring(turns) / 2);
}

// Nodes of four and three ranks: three lanes, each of whose ranks reduces a third of the vector.
TEST_F(OnNodes, LanesOfUnevenNodesShareTheWork) {
  const Topology topology = topology_of({0, 0, 0, 0, 1, 1, 1});
  const PricedCall call{allreduce, 7, 2, 1 << 20, 0, true, &topology};
  const auto time = [&](Form form, const std::string& columns) {
    return grid(call, form, columns).value_or(0);
  };
  const double exchange = kEthernetAlpha + kEthernetBeta * (1 << 20) / 3;
  EXPECT_NEAR(time(Form::lanes, "recursive_doubling"), 3 * exchange, 2e-2 * exchange);
  EXPECT_LT(time(Form::lanes, "recursive_doubling"), time(Form::leaders, "recursive_doubling"));
}

TEST_F(OnNodes, MoreRanksThanAreWalkedThrough) {
  for (const int nodes : {32, 256}) {
    const Topology topology = topology_of(in_turn(nodes, 2));
    const PricedCall call{bcast, 2 * nodes, nodes, 1000, 2 * nodes - 1, true, &topology};
    const double trees = std::log2(nodes) * (kEthernetAlpha + kEthernetBeta * 1000);
    EXPECT_NEAR(*grid(call, Form::leaders, "binomial"), trees + in_node(bcast, 2, 1000), 2e-9);
  }
}

// Two large nodes: half of the ranks stand for all.
TEST_F(OnNodes, FewNodesWithManyRanks) {
  const PricedCall call{allgather, 128, 2, 4000};
  const double exchange = kEthernetAlpha + kEthernetBeta * 64 * 4000;
  const double priced = grid(call, Form::leaders, "recursive_doubling").value_or(0);
  EXPECT_GT(priced, exchange);
  EXPECT_LT(priced, 1.2 * exchange);
  const PricedCall vector{bcast, 128, 2, 100000};
  EXPECT_GT(grid(vector, Form::leaders, "binomial").value_or(0),
            kEthernetAlpha + kEthernetBeta * 100000);
}

TEST_F(OnNodes, NoPriceForGridsThatCannotBe) {
  const Topology uneven = topology_of({0, 0, 0, 1, 1});
  const PricedCall call{allgather, 5, 2, 1000, 0, true, &uneven};
  EXPECT_TRUE(grid(call, Form::leaders, "ring"));
  EXPECT_FALSE(grid(call, Form::lanes, "ring"));
  EXPECT_FALSE(grid(call, Form::leaders, "ring", "native"));
  PricedCall unknown = call;
  unknown.topology = nullptr;  // blocks of three and two
  EXPECT_TRUE(grid(unknown, Form::leaders, "ring"));
}

TEST(Price, NoPriceForWhatHasNone) {
  const PricedCall call{.collective = bcast, .ranks = 8, .nodes = 8, .bytes = 1000};
  const Algorithm& in_node = *find_algorithm(bcast, "shm");
  EXPECT_FALSE(price(in_node, default_params(in_node), call, ethernet()));
  const Algorithm& pair = *find_algorithm(alltoall, "pair");
  EXPECT_FALSE(
      price(pair, {}, {.collective = alltoall, .ranks = 7, .nodes = 7, .bytes = 8}, ethernet()));
}

}  // namespace
}  // namespace unisono
