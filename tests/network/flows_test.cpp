// Times of small schedules that can be worked out by hand.
#include "network/flows.h"

#include <gtest/gtest.h>

#include <numeric>

#include "schedule/builder.h"

namespace unisono {

namespace {

// A byte a microsecond, ten microseconds a link: messages of n bytes over two links take n + 16
// + 20.
constexpr NetworkSpeeds kSpeeds{1e6, 1e-5, 1e6};

FlowTimes flows(const char* shape, Collective collective, const char* name, int ranks, Count count,
                Params params = {}, std::vector<int> hosts = {}, const FlowOptions& options = {}) {
  const auto network = make_network(shape, Routing::minimal, kSpeeds);
  const Algorithm* algorithm = find_algorithm(collective, name);
  Problem problem{.collective = collective, .size = ranks, .count = count};
  if (is_reducing(collective)) problem.unit_bytes = 4;
  problem.params = default_params(*algorithm);
  if (params.segment > 0) problem.params.segment = params.segment;
  if (hosts.empty()) {
    hosts.resize(static_cast<std::size_t>(ranks));
    std::iota(hosts.begin(), hosts.end(), 0);
  }
  auto programs = programs_of(*algorithm, problem, 2);
  EXPECT_TRUE(programs) << programs.error();
  const auto times = simulate_flows(std::move(*programs), **network, hosts, options);
  EXPECT_TRUE(times) << times.error();
  return *times;
}

TEST(Flows, AMessageTakesTheLatencyOfItsLinksAndItsBytesAnd16) {
  const FlowTimes times = flows("ethernet:2", Collective::bcast, "flat", 2, 100);
  EXPECT_DOUBLE_EQ(times.seconds, 136e-6);
  EXPECT_EQ(times.messages, 1);
  EXPECT_EQ(times.bytes, 100);
  EXPECT_EQ(times.slowed, 0);
  EXPECT_EQ(times.bytes_over, (std::vector<Count>{100, 0, 0, 100}));
}

TEST(Flows, MessagesThatMeetShareTheLink) {
  const FlowTimes times = flows("ethernet:4", Collective::bcast, "flat", 4, 100);
  EXPECT_DOUBLE_EQ(times.seconds, (3 * 116 + 20) * 1e-6);
  EXPECT_EQ(times.slowed, 3);
}

TEST(Flows, OfTwoMessagesOnALinkTheOneWithTheShorterRouteGetsMore) {
  // From 0 to 1 and from 0 to 2, over the link that both begin with: weights 2 to 1, nearly.
  const FlowTimes times = flows("torus:5", Collective::bcast, "flat", 3, 100);
  EXPECT_EQ(times.slowed, 2);
  EXPECT_NEAR(times.seconds_of_rank[1], (10 + 116 * 1.5) * 1e-6, 7e-6);
  EXPECT_NEAR(times.seconds, (10 + 2 * 116) * 1e-6, 11e-6);
}

TEST(Flows, AReductionTakesAFlopAnElementOfItsHost) {
  const FlowTimes times = flows("ethernet:2", Collective::reduce, "flat", 2, 25);
  EXPECT_DOUBLE_EQ(times.seconds, (136 + 25) * 1e-6);
}

TEST(Flows, AReceiveIsWaitedForUnlessTheMessageIsEager) {
  // In a ring of two steps every rank receives before it sends again.
  const FlowTimes waits = flows("ethernet:3", Collective::bcast, "chain", 3, 100);
  EXPECT_DOUBLE_EQ(waits.seconds, 2 * 136e-6);
  const FlowTimes eager =
      flows("ethernet:3", Collective::bcast, "chain", 3, 100, {}, {}, {.eager = 100});
  EXPECT_DOUBLE_EQ(eager.seconds, 2 * 136e-6);
  EXPECT_DOUBLE_EQ(eager.seconds_of_rank[0], 0) << "its sender is done with it at once";
}

TEST(Flows, TwoOfAChainsSegmentsAreUnderWay) {
  // 8 segments of 100: two at a time, each with half of the link, in four rounds.
  const FlowTimes times = flows("ethernet:2", Collective::bcast, "chain", 2, 800, {.segment = 100});
  EXPECT_DOUBLE_EQ(times.seconds, 4 * (2 * 116 + 20) * 1e-6);
}

TEST(Flows, RanksOfOneHostTakeNoLink) {
  const FlowTimes times = flows("ethernet:2", Collective::bcast, "flat", 2, 100, {}, {1, 1});
  EXPECT_EQ(times.messages, 1);
  EXPECT_EQ(std::accumulate(times.bytes_over.begin(), times.bytes_over.end(), Count{0}), 0);
  EXPECT_LT(times.seconds, 1e-9);
}

TEST(Flows, ABusyHostTakesTheReductionsOfItsRanksOneAfterTheOther) {
  // Ranks 1 and 2 on one host reduce at the same time what 3 and 0 have sent them.
  const FlowTimes apart = flows("ethernet:4", Collective::allreduce, "recursive_doubling", 2, 25);
  const FlowTimes together =
      flows("ethernet:4", Collective::allreduce, "recursive_doubling", 2, 25, {}, {0, 0});
  EXPECT_DOUBLE_EQ(apart.seconds, (136 + 25) * 1e-6);
  EXPECT_NEAR(together.seconds, 2 * 25e-6, 1e-9);
}

TEST(Flows, AreTheSameInEveryRun) {
  const auto once = flows("torus:4x4x4", Collective::bcast, "circulant", 64, 100'000);
  const auto again = flows("torus:4x4x4", Collective::bcast, "circulant", 64, 100'000);
  EXPECT_EQ(once.seconds, again.seconds);
  EXPECT_EQ(once.seconds_of_rank, again.seconds_of_rank);
}

TEST(Flows, SchedulesThatDoNotMatchAreAnError) {
  Args args{.collective = Collective::bcast, .size = 2, .count = 1};
  Builder b(args);
  b.send(1, args.input());
  auto sends = program_of(std::move(b).finish(), 1, 2);
  args.rank = 1;
  auto nothing = program_of(Builder(args).finish(), 1, 2);
  ASSERT_TRUE(sends && nothing);
  const auto network = make_network("ethernet:2", Routing::minimal, kSpeeds);
  const auto times = simulate_flows({*sends, *nothing}, **network, std::array{0, 1});
  ASSERT_FALSE(times);
  EXPECT_EQ(times.error(), "1 ops never start: the schedules do not match");
}

TEST(Flows, WhatDependsOnWhoArrivesHasNoTime) {
  const Algorithm* algorithm = find_algorithm(Collective::bcast, "arrival_chain");
  ASSERT_NE(algorithm, nullptr);
  const Problem problem{.collective = Collective::bcast,
                        .size = 4,
                        .count = 100,
                        .params = default_params(*algorithm)};
  const ArgsOfRanks ranks(problem);
  EXPECT_FALSE(program_of(build(*algorithm, ranks[0]), 1, 2));
  EXPECT_TRUE(programs_of(*algorithm, problem, 2)) << "resolved, as though all waited";
}

}  // namespace

}  // namespace unisono
