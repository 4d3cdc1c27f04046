// The oracle is the closed forms that the literature gives for each algorithm, under Hockney's
// model (alpha + beta m, one-ported) and LogGP's gap.
#include "model/predict.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <memory>

#include "model/shared_cores.h"
#include "schedule/builder.h"

namespace unisono {
namespace {

constexpr double kAlpha = 5e-6, kBeta = 2e-9, kGamma = 3e-10;

Machine hockney_machine() {
  Machine machine;
  machine.levels[kBetweenNodes] = hockney(kAlpha, kBeta);
  machine.gamma = kGamma;
  return machine;
}

double seconds(const Problem& problem, std::string_view algorithm, const Machine& machine,
               int nodes = 0) {
  const auto placement = block_placement(problem.size, nodes == 0 ? problem.size : nodes);
  const auto predicted =
      predict(*find_algorithm(problem.collective, algorithm), problem, machine, placement);
  EXPECT_TRUE(predicted) << predicted.error();
  return *predicted;
}

int log2_up(int p) { return std::bit_width(static_cast<unsigned>(p - 1)); }

#define EXPECT_SECONDS(actual, expected) EXPECT_NEAR(actual, expected, 1e-9 * (expected))

TEST(Predict, FlatBcastSendsOneAfterTheOther) {
  for (const int p : {2, 5, 16}) {
    const Problem problem{.collective = Collective::bcast, .size = p, .root = p - 1, .count = 3000};
    EXPECT_SECONDS(seconds(problem, "flat", hockney_machine()), (p - 1) * (kAlpha + 3000 * kBeta));
  }
}

TEST(Predict, BinomialBcastTakesLogarithmicallyManyRounds) {
  for (const int p : {2, 4, 8, 13, 16, 32}) {
    const Problem problem{.collective = Collective::bcast, .size = p, .count = 1000};
    EXPECT_SECONDS(seconds(problem, "binomial", hockney_machine()),
                   log2_up(p) * (kAlpha + 1000 * kBeta));
  }
}

TEST(Predict, ChainIsAPipeline) {
  for (const int p : {2, 7, 16})
    for (const int n : {1, 2, 10, 64}) {
      const Problem problem{
          .collective = Collective::bcast, .size = p, .count = n * 500, .params = {.segment = 500}};
      EXPECT_SECONDS(seconds(problem, "chain", hockney_machine()),
                     (p - 2 + n) * (kAlpha + 500 * kBeta));
    }
}

// Of the instance in which all wait: the tokens come and go one by one, then the chain.
TEST(Predict, ArrivalChainIsPricedAsThoughAllWait) {
  const int p = 7, n = 10;
  const Problem problem{
      .collective = Collective::bcast, .size = p, .count = n * 500, .params = {.segment = 500}};
  const double chain = (p - 2 + n) * (kAlpha + 500 * kBeta);
  const double time = seconds(problem, "arrival_chain", hockney_machine());
  EXPECT_GT(time, chain);
  EXPECT_LE(time, chain + 2 * (p - 1) * kAlpha * (1 + 1e-9));
}

TEST(Predict, RefusesSchedulesThatDependOnWhoArrives) {
  const ArgsOfRanks ranks({.collective = Collective::bcast, .size = 3, .count = 10});
  std::vector<Schedule> schedules;
  for (const Args& args : ranks.args())
    schedules.push_back(build(*find_algorithm(Collective::bcast, "arrival_chain"), args));
  const auto predicted = predict(schedules, 1, hockney_machine(), block_placement(3, 3));
  ASSERT_FALSE(predicted);
  EXPECT_NE(predicted.error().find("resolve the schedules first"), std::string::npos);
}

TEST(Predict, CirculantBcastIsRoundOptimal) {
  for (const int p : {8, 13, 16, 33}) {
    const int n = 12;
    const Problem problem{.collective = Collective::bcast,
                          .size = p,
                          .count = n * 500,
                          .params = {.segment = 500, .window = 8}};
    const double round = kAlpha + 500 * kBeta;
    const double time = seconds(problem, "circulant", hockney_machine());
    EXPECT_GE(time, (n - 1 + log2_up(p)) * round * (1 - 1e-9));
    EXPECT_LE(time, (n + 1 + log2_up(p)) * round) << p;  // greedy order costs two rounds at most
  }
}

TEST(Predict, RingAllgather) {
  for (const int p : {2, 5, 16}) {
    const Problem problem{.collective = Collective::allgather, .size = p, .count = 700};
    EXPECT_SECONDS(seconds(problem, "ring", hockney_machine()), (p - 1) * (kAlpha + 700 * kBeta));
  }
}

TEST(Predict, RingAllreduceReducesWhatItReceives) {
  for (const int p : {2, 4, 16}) {
    const int block = 100, unit = 8;
    const Problem problem{
        .collective = Collective::allreduce, .size = p, .count = p * block, .unit_bytes = unit};
    const double steps = p - 1;
    EXPECT_SECONDS(seconds(problem, "ring", hockney_machine()),
                   2 * steps * (kAlpha + block * unit * kBeta) + steps * block * unit * kGamma);
  }
}

TEST(Predict, RecursiveDoublingAllreduce) {
  for (const int p : {2, 8, 16}) {
    const Problem problem{
        .collective = Collective::allreduce, .size = p, .count = 100, .unit_bytes = 4};
    EXPECT_SECONDS(seconds(problem, "recursive_doubling", hockney_machine()),
                   log2_up(p) * (kAlpha + 400 * (kBeta + kGamma)));
  }
}

TEST(Predict, LogGpPaysTheLatencyOnceAndTheGapForEach) {
  Machine machine;
  const Cost one_way{{{0, 10e-6, 0}}}, gap{{{0, 2e-6, 0}}};
  machine.levels[kBetweenNodes] = {one_way, gap, {}};
  const Problem flat{.collective = Collective::bcast, .size = 9, .count = 1};
  EXPECT_SECONDS(seconds(flat, "flat", machine), 7 * 2e-6 + 10e-6);
  const Problem gather{.collective = Collective::gather, .size = 9, .count = 1};
  EXPECT_SECONDS(seconds(gather, "flat", machine), 7 * 2e-6 + 10e-6);
  const Problem chain{
      .collective = Collective::bcast, .size = 9, .count = 20, .params = {.segment = 1}};
  EXPECT_SECONDS(seconds(chain, "chain", machine), 8 * 10e-6 + 19 * 2e-6);
}

TEST(Predict, RanksOfANodeShareItsPort) {
  // Four ranks on two nodes, each sends to its partner on the other node: both ways are free at
  // once, but the two messages of a node leave one after the other.
  const Problem problem{.collective = Collective::alltoall, .size = 4, .count = 1};
  const ArgsOfRanks ranks(problem);
  std::vector<Schedule> schedules;
  for (int r = 0; r < 4; ++r) {
    Builder b(ranks[r]);
    b.send((r + 2) % 4, b.input_block(0));
    b.recv((r + 2) % 4, b.output_block(0));
    schedules.push_back(std::move(b).finish());
  }
  const Machine machine = hockney_machine();
  const double message = kAlpha + 1000 * kBeta;
  EXPECT_SECONDS(*predict(schedules, 1000, machine, block_placement(4, 4)), message);
  EXPECT_SECONDS(*predict(schedules, 1000, machine, block_placement(4, 2)), 2 * message);
}

TEST(Predict, EachLevelHasItsTimes) {
  Machine machine = hockney_machine();
  machine.levels[kWithinNode] = hockney(kAlpha / 10, 0);
  // Four nodes of two ranks: the chain crosses three borders and stays within a node four times.
  const Problem problem{.collective = Collective::bcast, .size = 8, .count = 100};
  EXPECT_SECONDS(seconds(problem, "chain", machine, 4),
                 3 * (kAlpha + 100 * kBeta) + 4 * kAlpha / 10);
}

TEST(Predict, WhatAllShareMakesARoundOfAllAsLongAsMeasured) {
  Machine machine = hockney_machine();
  LevelCosts& level = *machine.levels[kBetweenNodes];
  level.exchange = {{{0, 12 * kAlpha, 0}}};
  level.active = 16;
  const Problem chain{.collective = Collective::bcast, .size = 9, .count = 1};
  EXPECT_SECONDS(seconds(chain, "chain", machine), 8 * (kAlpha + kBeta));
  const Problem ring{.collective = Collective::allgather, .size = 16, .count = 1};
  EXPECT_NEAR(seconds(ring, "ring", machine), 15 * 12 * kAlpha, 0.05 * 15 * 12 * kAlpha);
  // Within nodes it is the ranks of a node who share, each node by itself.
  machine.levels[kWithinNode] = level;
  const auto paired = [&](int nodes) {
    const Problem pair{.collective = Collective::allgather, .size = 2 * nodes, .count = 1};
    const ArgsOfRanks ranks(pair);
    std::vector<Schedule> schedules;
    for (int r = 0; r < pair.size; ++r) {
      Builder b(ranks[r]);
      b.send(r ^ 1, b.input());
      b.recv(r ^ 1, b.output_block(r ^ 1));
      schedules.push_back(std::move(b).finish());
    }
    return *predict(schedules, 1, machine, block_placement(pair.size, nodes));
  };
  EXPECT_SECONDS(paired(8), paired(1));
}

/// A rank on every host, in their order.
std::unique_ptr<const Topology> on_torus(std::vector<int> sizes, std::vector<bool> wraps = {},
                                         Routing routing = Routing::minimal) {
  TopologyLabels labels;
  labels.torus.torus = std::make_shared<const Torus>(std::move(sizes), std::move(wraps));
  labels.torus.routing = routing;
  const int hosts = labels.torus.torus->hosts();
  for (int r = 0; r < hosts; ++r) labels.torus.of_rank.push_back(r);
  labels.at(Level::node) = labels.torus.of_rank;
  return std::make_unique<const Topology>(hosts, labels);
}

// The oracle is who shares a link on a line of four hosts, counted by hand.
TEST(Predict, OnATorusMessagesShareLinks) {
  const Problem problem{.collective = Collective::alltoall, .size = 4, .count = 1};
  const auto line = on_torus({4}, {false});
  const auto of = [&](std::vector<std::pair<int, int>> messages) {
    const ArgsOfRanks ranks(problem);
    std::vector<Schedule> schedules;
    for (int r = 0; r < 4; ++r) {
      Builder b(ranks[r]);
      for (const auto& [from, to] : messages) {
        if (r == from) b.send(to, b.input_block(to));
        if (r == to) b.recv(from, b.output_block(from));
      }
      schedules.push_back(std::move(b).finish());
    }
    return *predict(schedules, 1000, hockney_machine(), block_placement(4, 4), {}, kNoLimit,
                    TransportKind::mpi, line->torus());
  };
  const double message = kAlpha + 1000 * kBeta;
  EXPECT_SECONDS(of({{0, 1}, {1, 2}, {2, 3}}), message);      // a link each
  EXPECT_SECONDS(of({{0, 3}, {1, 2}}), 2 * message);          // the link in the middle
  EXPECT_SECONDS(of({{1, 0}, {1, 2}}), message);              // one port would send them in turn
  EXPECT_SECONDS(of({{0, 1}, {2, 1}}), message);              // or receive them
  EXPECT_SECONDS(of({{0, 3}, {1, 3}, {2, 3}}), 3 * message);  // the last link
}

// Of contention-free trees every one goes at a link's rate: of d + n rounds the root sends n.
TEST(Predict, TreesOnATorusGoAtOnce) {
  for (const auto& [sizes, trees] :
       {std::pair{std::vector{4, 4}, 4}, std::pair{std::vector{3, 3, 3}, 6}}) {
    const auto topology = on_torus(sizes);
    Problem problem{.collective = Collective::bcast, .size = topology->size(), .count = 1 << 20};
    problem.params = default_params(*find_algorithm(Collective::bcast, "torus"));
    problem.topology = topology.get();
    const double round = kAlpha + static_cast<double>(problem.params.segment) * kBeta,
                 rounds = static_cast<double>(problem.count / trees / problem.params.segment);
    const double predicted = seconds(problem, "torus", hockney_machine());
    EXPECT_GT(predicted, rounds * round);
    EXPECT_LT(predicted, (rounds + 12) * round);
  }
}

/// Lines through the memory of a node that cross between 8 KB and 9 KB.
Machine memory_machine(bool with_single_copy = true) {
  constexpr auto line = [](double alpha, double beta) { return Cost{{{0, alpha, beta}}}; };
  Machine machine;
  machine.node_memory = {.stores = {line(3e-7, 3e-10), line(3e-7, 3e-10)},
                         .copy = line(1e-8, 2e-11),
                         .combine = line(1e-8, 5e-11),
                         .fence = 2e-7};
  if (with_single_copy) machine.node_memory->single_copy = {line(2e-6, 1e-10), line(2e-6, 1e-10)};
  return machine;
}

// Worringer's (2), for our chain, whose root has the first segment: with the cheaper of l_PIO and
// l_DMA. Stores in and out are one after the other on a rank's core, as in the paper; by single
// copy, as by DMA, what goes out costs it nothing. l_sb is paid once, for the last: before that
// nobody waits for it.
TEST(Predict, ChainInTheMemoryOfANodeIsWorringersBroadcast) {
  const Machine machine = memory_machine();
  const MemoryTimes& memory = *machine.node_memory;
  for (const int p : {2, 3, 4, 7, 16})
    for (const int n : {1, 2, 10, 64})
      for (const Count block : {500, 8000, 9000, 100'000}) {
        const double pio = memory.stores.one_way(block), dma = memory.single_copy->one_way(block);
        EXPECT_EQ(dma<pio, block> 8500);
        const double by_dma = (p - 2 + n) * dma + memory.fence;
        const double by_pio = (p - 1) * pio + (n - 1) * (p == 2 ? pio : 2 * pio);
        const Problem problem{.collective = Collective::bcast,
                              .size = p,
                              .count = n * block,
                              .params = {.segment = block, .transport = TransportKind::shm}};
        EXPECT_SECONDS(seconds(problem, "chain", machine, 1), dma < pio ? by_dma : by_pio)
            << p << " ranks, " << n << " of " << block;
      }
}

// (3): a processor that copies does not combine meanwhile, so that the larger of l_cmb and l_DMA
// becomes their sum.
TEST(Predict, ChainReduceInTheMemoryOfANode) {
  const Machine machine = memory_machine();
  const MemoryTimes& memory = *machine.node_memory;
  const Count block = 100'000;
  for (const int p : {2, 3, 7})
    for (const int n : {1, 2, 10}) {
      const Problem problem{
          .collective = Collective::reduce,
          .size = p,
          .count = n * block / 4,
          .unit_bytes = 4,
          .params = {.segment = block, .window = 4, .transport = TransportKind::shm}};
      const double stage = memory.single_copy->one_way(block) + memory.combine(block);
      EXPECT_SECONDS(seconds(problem, "chain", machine, 1), (p - 2 + n) * stage);
    }
}

TEST(Predict, EveryRowThatSendsHasATimeInTheMemoryOfANode) {
  for (const bool once : {false, true}) {
    const Machine machine = memory_machine(once);
    for (const Algorithm& row : catalogue())
      for (int c = 0; c < kCollectives; ++c) {
        const auto collective = static_cast<Collective>(c);
        if (!contains(row.collectives, collective) ||
            (row.restrictions & (kOneNode | kComposed | kGraph)) != 0)
          continue;
        Problem problem{.collective = collective, .size = 8, .count = 40'000};
        problem.params = default_params(row);
        problem.params.transport = TransportKind::shm;
        EXPECT_GT(seconds(problem, row.name, machine, 1), 0) << row.name;
      }
  }
}

TEST(Predict, TheMemoryOfANodeHasToBeKnownAndReached) {
  const Problem problem{.collective = Collective::bcast,
                        .size = 4,
                        .count = 1,
                        .params = {.transport = TransportKind::shm}};
  const Algorithm& flat = *find_algorithm(Collective::bcast, "flat");
  const auto unknown = predict(flat, problem, hockney_machine(), block_placement(4, 1));
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().find("the memory of a node"), std::string::npos);
  const auto elsewhere = predict(flat, problem, memory_machine(), block_placement(4, 2));
  ASSERT_FALSE(elsewhere);
  EXPECT_NE(elsewhere.error().find("no other node"), std::string::npos);
}

TEST(Predict, AMissingLevelAndAnUnmatchedReceiveAreErrors) {
  const Machine machine = hockney_machine();
  const Problem problem{.collective = Collective::bcast, .size = 2, .count = 1};
  const Algorithm& flat = *find_algorithm(Collective::bcast, "flat");
  const auto within = predict(flat, problem, machine, block_placement(2, 1));
  ASSERT_FALSE(within);
  EXPECT_NE(within.error().find("within a node"), std::string::npos);

  const ArgsOfRanks ranks(problem);
  std::vector<Schedule> schedules{Schedule(), build(flat, ranks[1])};
  EXPECT_FALSE(predict(schedules, 1, machine, block_placement(2, 2)));
}

std::vector<Schedule> flat_bcast(int ranks, Count bytes) {
  const Problem problem{.collective = Collective::bcast, .size = ranks, .count = bytes};
  const ArgsOfRanks args(problem);
  return build_all(*find_algorithm(Collective::bcast, "flat"), args.args());
}

/// When the ranks are done with calls of flat Bcast of so many bytes, each `away` seconds after the
/// one before.
std::vector<std::vector<double>> bcasts(const Machine& machine, int ranks, Count bytes,
                                        const std::vector<std::vector<double>>& away) {
  const auto schedules = flat_bcast(ranks, bytes);
  const auto placement = block_placement(ranks, ranks);
  CallSequence calls(machine, placement, TransportKind::mpi);
  std::vector<std::vector<double>> exits;
  std::vector<double> at(static_cast<std::size_t>(ranks));
  for (const auto& own : away) {
    for (std::size_t r = 0; r < at.size(); ++r) at[r] += own[r];
    const auto done = calls.next(schedules, 1, at);
    EXPECT_TRUE(done) << done.error();
    at = exits.emplace_back(*done);
  }
  return exits;
}

TEST(CallSequence, ARankIsDoneWhenItHasWhatItNeedsAndNoSooner) {
  const double message = kAlpha + 1000 * kBeta;
  const auto exits = bcasts(hockney_machine(), 3, 1000, {{0, 1, 0}, {0, 0, 0}});
  EXPECT_SECONDS(exits[0][0], 2 * message);  // the root waits for nobody
  EXPECT_SECONDS(exits[0][1], 1.0);          // the message was there before it came
  EXPECT_SECONDS(exits[0][2], 2 * message);
  EXPECT_SECONDS(exits[1][0],
                 4 * message);  // its port is free when the first call's messages have left
  EXPECT_SECONDS(exits[1][1], 1.0);
  EXPECT_SECONDS(exits[1][2], 4 * message);
}

TEST(CallSequence, AShapedPortGivesCreditAndWantsItBack) {
  Machine machine = hockney_machine();
  machine.credit = 10000;
  const double alone = kAlpha + 6000 * kBeta;
  // The first message passes at once, of the second only what is left of the credit does.
  const auto exits = bcasts(machine, 2, 6000, {{0, 0}, {0, 0}, {1, 1}});
  EXPECT_SECONDS(exits[0][1], kAlpha);
  EXPECT_SECONDS(exits[1][1], 2 * alone - 10000 * kBeta);
  EXPECT_NEAR(exits[2][1] - exits[1][1], 1 + kAlpha, 1e-9);  // it has come back meanwhile
}

TEST(CallSequence, WhoWaitsForAMessageHasToGetACoreFirst) {
  Machine machine = hockney_machine();
  machine.wake = 1e-3;
  const std::vector<std::vector<double>> away(400, {0, 0});
  const auto exits = bcasts(machine, 2, 1000, away);
  double waited = 0;
  for (std::size_t i = 0; i < exits.size(); ++i) {
    const double before = i == 0 ? 0 : exits[i - 1][1];
    const double there =
        exits[i][0];  // when the message is: it leaves the root and arrives at once
    if (before < there) waited += exits[i][1] - there;
    EXPECT_GE(exits[i][1], there);
  }
  EXPECT_GT(waited, 0);
  // A message that is there before its receiver costs nothing more.
  const auto late = bcasts(machine, 2, 1000, {{0, 1}});
  EXPECT_SECONDS(late[0][1], 1.0);
}

TEST(CallSequence, WhoComputesKeepsACoreFromWhoWaits) {
  Machine machine = hockney_machine();
  const auto schedules = flat_bcast(4, 1000);
  const auto placement = block_placement(4, 4);
  const std::vector<double> at(4, 0.0), computing(4, 1.0);
  // Leaves have their messages one after the other, then the root is done, which waits for nobody;
  // each computes for a second then.
  const std::map<int, std::vector<double>> expected{
      {1, {0, 1, 2}}, {2, {0, 0, 1}}, {4, {0, 0, 0}}, {0, {0, 0, 0}}};
  for (const auto& [cores, leaves] : expected) {
    machine.shared_cores = cores;
    CallSequence calls(machine, placement, TransportKind::mpi);
    const auto exits = *calls.next(schedules, 1, at, computing);
    for (std::size_t leaf = 1; leaf < 4; ++leaf)
      EXPECT_NEAR(exits[leaf], leaves[leaf - 1], 0.01) << cores << " cores, leaf " << leaf;
  }
}

TEST(CallSequence, WhoComputesSinceTheLastCallKeepsACoreToo) {
  Machine machine = hockney_machine();
  machine.shared_cores = 1;
  const auto schedules = flat_bcast(2, 1000);
  const auto placement = block_placement(2, 2);
  CallSequence calls(machine, placement, TransportKind::mpi);
  ASSERT_TRUE(calls.next(schedules, 1, std::vector<double>{0, 0}, std::vector<double>{5, 0}));
  // The root is there early, having left its computing to somebody else.
  const auto exits = *calls.next(schedules, 1, std::vector<double>{1, 0.5});
  EXPECT_NEAR(exits[1], 5, 0.01);
  const auto later = *calls.next(schedules, 1, std::vector<double>{6, 6});
  EXPECT_NEAR(later[1], 6, 0.01);
}

TEST(CallSequence, OtherTrafficUsesUpCredit) {
  Machine machine = hockney_machine();
  machine.credit = 10000;
  const auto schedules = flat_bcast(2, 6000);
  const auto placement = block_placement(2, 2);
  const std::vector<double> at(2, 1.0);
  const double alone = kAlpha + 6000 * kBeta;
  const auto done = [&](const std::vector<Traffic>& before) {
    CallSequence calls(machine, placement, TransportKind::mpi);
    return (*calls.next(schedules, 1, at, {}, before))[1] - 1.0;
  };
  EXPECT_NEAR(done({}), kAlpha, 1e-9);
  // Just before, out of the root's port or into the other's: what is left of the credit.
  EXPECT_NEAR(done({{.rank = 0, .out = 6000, .begin = 1.0}}), 2 * alone - 10000 * kBeta, 1e-9);
  EXPECT_NEAR(done({{.rank = 1, .in = 6000, .begin = 1.0}}), 2 * alone - 10000 * kBeta, 1e-9);
  EXPECT_NEAR(done({{.rank = 1, .out = 6000, .begin = 1.0}}), kAlpha, 1e-9);  // the other way
  EXPECT_NEAR(done({{.rank = 0, .out = 6000, .begin = 0.0}}), kAlpha, 1e-9);  // long ago
}

TEST(SharedCores, AreFreeWhenFewerThanAllAreTaken) {
  SharedCores cores(2);
  EXPECT_EQ(cores.free_from(3), 3);
  cores.take(1, 5);
  EXPECT_EQ(cores.free_from(3), 3);
  cores.take(2, 4);
  EXPECT_EQ(cores.free_from(1.5), 1.5);
  EXPECT_EQ(cores.free_from(3), 4);
  cores.take(4, 6);
  EXPECT_EQ(cores.free_from(3), 5);
  cores.forget_before(4.5);
  EXPECT_EQ(cores.free_from(4.5), 5);
  EXPECT_EQ(cores.free_from(3), 3) << "what has ended by then is forgotten";
}

TEST(SharedCores, MayBeAskedOfAnEarlierMomentAgain) {
  SharedCores cores(1);
  cores.take(1, 2);
  cores.take(5, 6);
  EXPECT_EQ(cores.free_from(3), 3);
  EXPECT_EQ(cores.free_from(1.5), 2);
  EXPECT_EQ(cores.free_from(5.5), 6);
  cores.forget_before(2);
  EXPECT_EQ(cores.free_from(1.5), 1.5);
}

}  // namespace
}  // namespace unisono
