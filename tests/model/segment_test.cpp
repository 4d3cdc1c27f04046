// The oracles: a fine grid of segments, each priced; and the closed form of a pipeline.
#include "model/segment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace unisono {
namespace {

using enum Collective;

Machine between_nodes(LevelCosts costs) {
  Machine machine;
  machine.levels[kBetweenNodes] = std::move(costs);
  machine.gamma = 3e-10;
  return machine;
}

/// Short messages take little of a port, and long ones another protocol.
LevelCosts logp(double latency, double overhead, double beta) {
  constexpr double kRendezvous = 65536;
  LevelCosts costs;
  costs.one_way.pieces = {{0, latency + overhead, beta}, {kRendezvous, 3 * latency, beta}};
  costs.gap.pieces = {{0, overhead, beta}, {kRendezvous, 2 * overhead, beta}};
  return costs;
}

struct Row {
  Collective collective;
  const char* name;
};
constexpr Row kRows[] = {{bcast, "chain"},         {bcast, "circulant"}, {reduce, "chain"},
                         {reduce, "circulant"},    {allgather, "ring"},  {allreduce, "ring"},
                         {reduce_scatter, "ring"}, {scan, "chain"}};

double price_of(const Algorithm& row, Count segment, const PricedCall& call, const Machine& machine,
                double most = kNoLimit) {
  Params params = default_params(row);
  params.segment = segment;
  return price(row, params, call, machine, most).value_or(kNoLimit);
}

/// With the best of a fine grid, the uncut message among it.
double least_price(const Algorithm& row, const PricedCall& call, const Machine& machine) {
  const Count longest = longest_message(row, default_params(row), call);
  double least = price_of(row, longest, call, machine);
  for (double pieces = 1; pieces <= 4096 && static_cast<double>(longest) / pieces >= kLeastSegment;
       pieces *= std::pow(2, 0.25)) {
    const auto segment = static_cast<Count>(std::ceil(static_cast<double>(longest) / pieces));
    least = std::min(least, price_of(row, (segment + 63) / 64 * 64, call, machine, least));
  }
  return least;
}

// Ranks, and bytes of all: of a fine grid for long vectors on many ranks a test takes too long.
constexpr std::pair<int, Count> kCalls[] = {{2, 1 << 20},   {5, 16 << 10},  {5, 300 << 10},
                                            {5, 1 << 20},   {16, 16 << 10}, {16, 300 << 10},
                                            {33, 16 << 10}, {33, 160 << 10}};

TEST(Segment, AsGoodAsTheBestOfAFineGrid) {
  const Machine machines[] = {
      between_nodes(hockney(5e-5, 8e-8)), between_nodes(hockney(2e-6, 1e-10)),
      between_nodes(logp(3e-5, 3e-6, 8e-9)), between_nodes(logp(1.5e-6, 4e-7, 1e-10))};
  int cells = 0, good = 0;
  double worst = 1;
  for (const Machine& machine : machines)
    for (const auto& [collective, name] : kRows)
      for (const auto& [p, bytes] : kCalls) {
        const Algorithm& row = *find_algorithm(collective, name);
        const PricedCall call{.collective = collective,
                              .ranks = p,
                              .nodes = p,
                              .bytes = collective == allgather ? bytes / p : bytes};
        const auto chosen = best_segment(row, default_params(row), call, machine);
        ASSERT_TRUE(chosen) << name;
        const double ratio =
            price_of(row, *chosen, call, machine) / least_price(row, call, machine);
        ++cells;
        good += ratio <= 1.03;
        worst = std::max(worst, ratio);
      }
  RecordProperty("cells", cells);
  RecordProperty("good", good);
  RecordProperty("worst", std::to_string(worst));
  EXPECT_GE(good, 0.9 * cells) << good << " of " << cells;
  EXPECT_LT(worst, 1.3);
}

TEST(Segment, TheUncutCallIsACandidateWhateverARowCuts) {
  constexpr Row kOfBlocks[] = {{reduce_scatter, "circulant_segments"},
                               {allgather, "circulant_segments"}};
  const Machine machine = between_nodes(hockney(50e-6, 1e-9));
  for (const auto& [collective, name] : kOfBlocks)
    for (const int ranks : {5, 13, 16}) {
      const Algorithm& row = *find_algorithm(collective, name);
      const PricedCall call{collective, ranks, ranks, 64 << 10};
      const auto found = best_segment(row, default_params(row), call, machine);
      ASSERT_TRUE(found) << name;
      EXPECT_LE(price_of(row, *found, call, machine), price_of(row, 1 << 30, call, machine))
          << name << " on " << ranks;
    }
}

TEST(Segment, LongVectorsToo) {
  const Machine machine = between_nodes(hockney(5e-5, 8e-9));
  const Algorithm& chain = *find_algorithm(bcast, "chain");
  for (const int p : {5, 16}) {
    const PricedCall call{.collective = bcast, .ranks = p, .nodes = p, .bytes = 8 << 20};
    const auto chosen = best_segment(chain, default_params(chain), call, machine);
    ASSERT_TRUE(chosen);
    EXPECT_LE(price_of(chain, *chosen, call, machine), 1.03 * least_price(chain, call, machine));
  }
}

// n pieces take (p - 2 + n)(alpha + beta m / n): n* = sqrt((p - 2) beta m / alpha).
TEST(Segment, AsTheClosedFormOfAPipeline) {
  const Algorithm& chain = *find_algorithm(bcast, "chain");
  for (const double alpha : {2e-6, 5e-5})
    for (const double beta : {1e-9, 8e-8})
      for (const int p : {4, 9, 33})
        for (const Count bytes : {Count{64} << 10, Count{1} << 20, Count{4} << 20}) {
          const auto m = static_cast<double>(bytes);
          const double best = std::sqrt((p - 2) * beta * m / alpha);
          // Where pieces would be too short, or there would be none.
          if (best < 2 || m / best < 2 * kLeastSegment || best > 600) continue;
          const auto seconds = [&](double n) { return (p - 2 + n) * (alpha + beta * m / n); };
          const auto chosen =
              best_segment(chain, default_params(chain),
                           {.collective = bcast, .ranks = p, .nodes = p, .bytes = bytes},
                           between_nodes(hockney(alpha, beta)));
          ASSERT_TRUE(chosen);
          const double n = std::ceil(m / static_cast<double>(*chosen));
          EXPECT_LE(seconds(n), 1.03 * seconds(best)) << p << " " << bytes << ": " << n;
          EXPECT_LT(std::log2(n / best), 0.6) << p << " " << bytes << ": " << n;
        }
}

TEST(Segment, TwoRanksOfAPipelineCutNothing) {
  const Algorithm& chain = *find_algorithm(bcast, "chain");
  EXPECT_EQ(best_segment(chain, default_params(chain),
                         {.collective = bcast, .ranks = 2, .nodes = 2, .bytes = 1 << 20},
                         between_nodes(hockney(5e-5, 8e-8))),
            1 << 20);
}

TEST(Segment, NothingWhereThereIsNoneOrNoPrice) {
  const Machine machine = between_nodes(hockney(5e-5, 8e-8));
  const PricedCall call{.collective = bcast, .ranks = 8, .nodes = 8, .bytes = 1 << 20};
  const auto asked = [](const char* name, const PricedCall& of, const Machine& on) {
    const Algorithm& row = *find_algorithm(of.collective, name);
    return best_segment(row, default_params(row), of, on);
  };
  EXPECT_FALSE(asked("binomial", call, machine));
  EXPECT_FALSE(asked("shm", call, machine));
  EXPECT_FALSE(asked("chain", call, Machine()));
  PricedCall other = call;
  other.bytes = 0;
  EXPECT_FALSE(asked("chain", other, machine));
  other = call;
  other.ranks = other.nodes = 1;
  EXPECT_FALSE(asked("chain", other, machine));
  other = call;
  other.collective = reduce;
  other.commutative = false;
  EXPECT_FALSE(asked("circulant", other, machine));
  const Algorithm& chain = *find_algorithm(bcast, "chain");
  EXPECT_FALSE(best_segment(chain, {.segment = 1, .transport = TransportKind::shm}, call, machine));
}

TEST(Segment, OfMessagesThroughTheMemoryOfANode) {
  Machine machine;  // which knows nothing of messages of the MPI library
  const Cost once{{{0, 2e-6, 1e-10}}}, stores{{{0, 3e-7, 3e-10}}};
  machine.node_memory = {
      .stores = {stores, stores}, .single_copy = {{once, once}}, .copy = {}, .combine = {}};
  PricedCall call{.collective = bcast, .ranks = 8, .nodes = 1, .bytes = 4 << 20};
  const Algorithm& chain = *find_algorithm(bcast, "chain");
  Params params = default_params(chain);
  params.transport = TransportKind::shm;
  const auto chosen = best_segment(chain, params, call, machine);
  ASSERT_TRUE(chosen);
  const auto priced = [&](Count segment) {
    params.segment = segment;
    return price(chain, params, call, machine).value();
  };
  // n* = sqrt((p - 2) beta m / alpha), by single copy.
  const double best = std::sqrt(6 * 1e-10 * (4 << 20) / 2e-6);
  EXPECT_NEAR(std::log2((4 << 20) / static_cast<double>(*chosen) / best), 0, 0.5);
  for (Count other = kLeastSegment; other <= 4 << 20; other *= 2)
    EXPECT_LE(priced(*chosen), 1.03 * priced(other)) << other;
  call.nodes = 2;
  EXPECT_FALSE(best_segment(chain, params, call, machine)) << "it reaches no other node";
}

TEST(Segment, IsNeverShorterThanAKibibyteUnlessTheMessageIs) {
  const Machine machine = between_nodes(hockney(1e-12, 1e-9));  // which would cut for ever
  const Algorithm& chain = *find_algorithm(bcast, "chain");
  for (const Count bytes : {Count{100}, Count{1024}, Count{1500}, Count{3000}, Count{40000}}) {
    const auto chosen =
        best_segment(chain, default_params(chain),
                     {.collective = bcast, .ranks = 8, .nodes = 8, .bytes = bytes}, machine);
    ASSERT_TRUE(chosen);
    EXPECT_GE(*chosen, std::min<Count>(kLeastSegment, bytes));
    EXPECT_EQ(*chosen % 64, 0);
    EXPECT_TRUE(bytes >= 2 * kLeastSegment || *chosen >= bytes);
    EXPECT_TRUE(bytes != 40000 || *chosen < 2 * kLeastSegment);
  }
}

TEST(Segment, AFewWalksAreEnough) {
  const auto walks = [](Count longest, Count first, auto&& seconds) {
    SegmentSearch search(longest, first);
    int asked = 0;
    while (const auto bytes = search.next()) {
      EXPECT_EQ(search.next(), bytes);
      search.note(seconds(static_cast<double>(*bytes)));
      ++asked;
    }
    return std::pair(asked, search.best());
  };
  for (const double alpha : {1e-7, 1e-6, 1e-5, 1e-4, 1e-3}) {
    const double m = 8 << 20, beta = 1e-9;
    const auto seconds = [&](double segment) {
      return (14 + m / segment) * (alpha + beta * segment);
    };
    const auto [asked, best] = walks(8 << 20, 16384, seconds);
    EXPECT_LE(asked, 12) << alpha;
    const double segment = std::clamp(std::sqrt(alpha * m / (14 * beta)), 2048.0, m);
    EXPECT_GT(std::log2(static_cast<double>(best) / segment), -0.51) << alpha;
    EXPECT_LT(seconds(static_cast<double>(best)), 1.031 * seconds(segment)) << alpha;
  }
  // What costs the same in fewer messages is better.
  EXPECT_EQ(
      walks(8 << 20, 16384, [](double segment) { return segment > 65536 ? 1.02 : 1.0; }).second,
      65536);
  // Whatever is too slow ends a search at once.
  const auto [asked, best] = walks(8 << 20, 16384, [](double) { return kNoLimit; });
  EXPECT_EQ(asked, 2);
}

TEST(Segment, OnMoreRanksThanAreWalkedThrough) {
  const Algorithm& chain = *find_algorithm(bcast, "chain");
  const Machine machine = between_nodes(hockney(5e-5, 8e-8));
  const PricedCall call{.collective = bcast, .ranks = 500, .nodes = 500, .bytes = 1 << 20};
  const auto chosen = best_segment(chain, default_params(chain), call, machine);
  ASSERT_TRUE(chosen);
  EXPECT_LT(price_of(chain, *chosen, call, machine), price_of(chain, 65536, call, machine));
}

// Where a row cuts nothing of itself the search begins there.
TEST(Segment, TheFirstMayBeTheWholeMessage) {
  SegmentSearch search(1 << 20, 0);
  EXPECT_EQ(search.next(), 1 << 20);
  search.note(1);
  EXPECT_EQ(search.next(), 1 << 18);
  EXPECT_TRUE(search.is_as_first());
}

// Of 64 ranks that exchange gigabytes in short segments, the schedules would fill rank 0's memory.
TEST(Segment, WhatIsTooLongIsNotWalkedThrough) {
  const Algorithm& ring = *find_algorithm(Collective::alltoall, "ring_light_barrier");
  const Machine machine = between_nodes(hockney(5e-5, 8e-8));
  const PricedCall call{
      .collective = Collective::alltoall, .ranks = 64, .nodes = 64, .bytes = 16 << 20};
  EXPECT_EQ(price(ring, default_params(ring), call, machine), kNoLimit);
  const auto chosen = best_segment(ring, default_params(ring), call, machine);
  ASSERT_TRUE(chosen);
  EXPECT_LT(price_of(ring, *chosen, call, machine), kNoLimit);
}

TEST(Segment, HasATimeLimit) {
  const Algorithm& chain = *find_algorithm(bcast, "chain");
  EXPECT_FALSE(best_segment(chain, default_params(chain),
                            {.collective = bcast, .ranks = 8, .nodes = 8, .bytes = 1 << 20},
                            between_nodes(hockney(5e-5, 8e-8)), 0));
}

}  // namespace
}  // namespace unisono
