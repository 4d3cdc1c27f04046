// The oracles: what is known of schedules that lose nothing, a count of messages at a port, and the
// closed forms at numbers of ranks that nobody walks through.
#include "model/price.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace unisono {
namespace {

using enum Collective;

constexpr double kAlpha = 5e-5, kBeta = 8e-8;  // 100 Mb/s

Machine ethernet(Incast incast = kCheapSwitch) {
  Machine machine;
  machine.levels[kBetweenNodes] = hockney(kAlpha, kBeta);
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
    EXPECT_EQ(timeouts("flat", {.collective = bcast, .ranks = p, .nodes = p, .bytes = 1 << 20}), 0);
    EXPECT_EQ(
        timeouts("ring", {.collective = allgather, .ranks = p, .nodes = p, .bytes = 64 << 10}), 0);
    EXPECT_EQ(timeouts("flat", {.collective = scatter, .ranks = p, .nodes = p, .bytes = 64 << 10}),
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
    const double message = kAlpha + 1000 * kBeta;
    EXPECT_NEAR(of("flat", bcast, 1000) / ((p - 1) * message), 1, 1e-6) << p;
    EXPECT_NEAR(of("ring", allgather, 1000) / ((p - 1) * message), 1, 1e-6) << p;
    EXPECT_NEAR(of("binomial", bcast, 1000) / (std::log2(p) * message), 1, 1e-6) << p;
    const double segment = kAlpha + 16384 * kBeta;
    EXPECT_NEAR(of("chain", bcast, 1 << 20) / ((p - 2 + 64) * segment), 1, 1e-6) << p;
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

TEST(Price, NoPriceForWhatHasNone) {
  const PricedCall call{.collective = bcast, .ranks = 8, .nodes = 8, .bytes = 1000};
  for (const char* name : {"grid", "shm"}) {
    const Algorithm& row = *find_algorithm(bcast, name);
    EXPECT_FALSE(price(row, default_params(row), call, ethernet())) << name;
  }
  const Algorithm& pair = *find_algorithm(alltoall, "pair");
  EXPECT_FALSE(
      price(pair, {}, {.collective = alltoall, .ranks = 7, .nodes = 7, .bytes = 8}, ethernet()));
}

}  // namespace
}  // namespace unisono
