#include "schedule/metrics.h"

#include <gtest/gtest.h>

#include <bit>

#include "algorithms/catalogue.h"
#include "schedule/printer.h"
#include "schedule/problem.h"

namespace unisono {
namespace {

std::vector<Schedule> schedules(const Problem& problem, std::string_view algorithm) {
  const ArgsOfRanks ranks(problem);
  const Algorithm* row = find_algorithm(problem.collective, algorithm);
  std::vector<Schedule> all;
  for (const Args& args : ranks.args()) all.push_back(build(*row, args));
  return all;
}

TEST(Metrics, FlatBcast) {
  const Metrics m = measure(
      schedules({.collective = Collective::bcast, .size = 9, .root = 4, .count = 100}, "flat"));
  EXPECT_EQ(m.rounds, 8);
  EXPECT_EQ(m.depth, 1);
  EXPECT_EQ(m.messages, 8);
  EXPECT_EQ(m.sent, 800);
  EXPECT_EQ(m.received, 100);
  EXPECT_EQ(m.reduced, 0);
}

TEST(Metrics, BinomialBcastTakesLogarithmicallyManyRounds) {
  for (const int p : {1, 2, 3, 8, 9, 16, 17, 64}) {
    int q = 0;
    while ((1 << q) < p) ++q;
    const Metrics m =
        measure(schedules({.collective = Collective::bcast, .size = p, .count = 5}, "binomial"));
    EXPECT_EQ(m.rounds, q) << p;
    // A rank of the last, incomplete level waits for no more than those before it.
    EXPECT_EQ(m.depth, std::bit_width(static_cast<unsigned>(p)) - 1) << p;
    EXPECT_EQ(m.sent, 5 * q) << p;
  }
}

TEST(Metrics, ChainIsAPipeline) {
  const int p = 10;
  const int segments = 12;
  const Metrics m = measure(schedules(
      {.collective = Collective::bcast, .size = p, .count = segments * 4, .params = {.segment = 4}},
      "chain"));
  EXPECT_EQ(m.rounds, p - 2 + segments);
  EXPECT_EQ(m.messages, segments);
  EXPECT_EQ(m.sent, segments * 4);
}

TEST(Metrics, CirculantBcastIsRoundOptimal) {
  const int segments = 8;
  for (const int p : {2, 8, 16, 17, 33, 64, 65, 67}) {
    const Metrics m = measure(schedules({.collective = Collective::bcast,
                                         .size = p,
                                         .count = segments * 4,
                                         .params = {.segment = 4, .window = 4}},
                                        "circulant"));
    EXPECT_EQ(m.rounds, segments - 1 + std::bit_width(static_cast<unsigned>(p - 1))) << p;
  }
}

TEST(Metrics, SchedulesThatDoNotMatchNeverComplete) {
  auto all = schedules({.collective = Collective::bcast, .size = 3, .count = 5}, "flat");
  EXPECT_TRUE(one_ported(all).complete);
  all[2] = Schedule();
  EXPECT_FALSE(one_ported(all).complete);
}

TEST(Printer, TextShowsRoundOpAndDependencies) {
  const auto all = schedules(
      {.collective = Collective::bcast, .size = 3, .count = 8, .params = {.segment = 4}}, "chain");
  const Timeline timeline = one_ported(all);
  EXPECT_EQ(print_text(all[1], timeline.round[1]),
            "    0  round 1     recv output[0:4] from 0\n"
            "    1  round 2     send output[0:4] to 2    after 0\n"
            "    2  round 2     recv output[4:8] from 0\n"
            "    3  round 3     send output[4:8] to 2    after 2\n");
}

TEST(Printer, TextNamesTheSlotsOfPeersThatAreToBeBound) {
  const auto all =
      schedules({.collective = Collective::bcast, .size = 2, .count = 8, .params = {.segment = 8}},
                "arrival_chain");
  EXPECT_EQ(print_text(all[0]),
            "    0  recv token from 1\n"
            "    1  enqueue 1, neighbours in slots[0:2]       after 0\n"
            "    2  send slots[0:2] to 1                      after 1\n"
            "    3  serve who waits, the first in slots[2:3]\n"
            "    4  send output[0:8] to slots[2:3]            after 3\n");
  EXPECT_EQ(print_text(all[1]),
            "    0  send token to 0\n"
            "    1  recv slots[0:2] from 0\n"
            "    2  recv output[0:8] from slots[0:1]  after 1\n"
            "    3  send output[0:8] to slots[1:2]    after 1, 2\n");
}

TEST(Printer, DotHasEveryOpAndMessage) {
  const auto all = schedules({.collective = Collective::bcast, .size = 3, .count = 8}, "flat");
  const std::string dot = print_dot(all);
  EXPECT_NE(dot.find("r1_0 [label=\"recv output[0:8] from 0\"]"), std::string::npos) << dot;
  EXPECT_NE(dot.find("r0_0 -> r1_0"), std::string::npos) << dot;
  EXPECT_NE(dot.find("r0_1 -> r2_0"), std::string::npos) << dot;
}

}  // namespace
}  // namespace unisono
