// What the rows of pipelines along chains and trees promise in rounds and bytes, counted on their
// schedules.
#include <gtest/gtest.h>

#include <bit>

#include "algorithms/catalogue.h"
#include "schedule/metrics.h"
#include "schedule/problem.h"

namespace unisono {

namespace {

constexpr Count kSegments = 64;

class PipelineCost : public testing::TestWithParam<int> {
 protected:
  Metrics metrics(Collective collective, std::string_view algorithm, bool commutative = true,
                  Count radix = 0) const {
    const Algorithm& row = *find_algorithm(collective, algorithm);
    Problem problem{.collective = collective,
                    .size = p,
                    .count = kSegments,
                    .commutative = commutative,
                    .params = default_params(row)};
    problem.params.segment = 1;
    if (radix != 0) problem.params.radix = radix;
    const ArgsOfRanks ranks(problem);
    return measure(build_all(row, ranks.args()));
  }

  const int p = GetParam();
  const int levels = std::bit_width(static_cast<unsigned>(p));
};
INSTANTIATE_TEST_SUITE_P(Sizes, PipelineCost,
                         testing::Values(2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65));

TEST_P(PipelineCost, TwoTreesTakeASegmentARound) {
  using enum Collective;
  for (const Collective c : {bcast, reduce}) {
    const Metrics m = metrics(c, "two_tree");
    EXPECT_LE(m.rounds, kSegments - 1 + 2 * levels);
    EXPECT_EQ(m.sent, kSegments);
    EXPECT_EQ(m.received, kSegments);
  }
  EXPECT_LE(metrics(reduce, "two_tree", false).rounds, kSegments - 1 + 2 * levels);
  EXPECT_EQ(metrics(reduce, "two_tree").copied, 0);
  EXPECT_LE(metrics(reduce, "two_tree", false).copied, kSegments / 2) << "the last rank, in a tree";
}

TEST_P(PipelineCost, FractionalTreesSendAQuarterMore) {
  using enum Collective;
  constexpr Count kGroup = 4;
  const Count most = kSegments + kSegments / kGroup;
  EXPECT_LE(metrics(bcast, "fractional_tree").sent, most);
  EXPECT_LE(metrics(reduce, "fractional_tree").received, most);
  for (const Collective c : {bcast, reduce})
    EXPECT_LE(metrics(c, "fractional_tree").rounds, most + (2 * kGroup + 2) * levels);
}

TEST_P(PipelineCost, ThePipelineIsAsLongAsTheWayThereAndBack) {
  const Metrics chain = metrics(Collective::allreduce, "chain");
  EXPECT_EQ(chain.rounds, 2 * (p - 2 + kSegments));
  const Metrics pipeline = metrics(Collective::allreduce, "pipeline");
  EXPECT_LE(pipeline.rounds, 2 * (p - 1) + 2 * (kSegments - 1));
  for (const Metrics& m : {chain, pipeline}) {
    EXPECT_LE(m.sent, 2 * kSegments);
    EXPECT_EQ(m.copied + m.scratch, 0);
  }
}

TEST_P(PipelineCost, DualRootIsThreeVectors) {
  const Metrics m = metrics(Collective::allreduce, "dual_root");
  EXPECT_LE(m.sent, 3 * kSegments);
  EXPECT_LE(m.rounds, 3 * kSegments + 4 * levels);
}

TEST_P(PipelineCost, ScanThroughTwoTreesIsTwoVectors) {
  for (const Collective c : {Collective::scan, Collective::exscan}) {
    const Metrics m = metrics(c, "two_tree");
    EXPECT_LE(m.sent, 2 * kSegments);
    EXPECT_LE(m.rounds, 2 * kSegments + 8 * levels);
  }
}

TEST_P(PipelineCost, ScanThroughAFractionalTreeLiesBetweenAnInOrderTreeAndTheChain) {
  for (const Collective c : {Collective::scan, Collective::exscan})
    for (const Count r : {1, 3, 4, 32}) {
      const Metrics m = metrics(c, "fractional_tree", false, r);
      const Metrics chain = metrics(c, "chain", false);
      if (p <= 3 * r) {
        EXPECT_EQ(m.rounds, chain.rounds) << r;
        EXPECT_EQ(m.sent, chain.sent) << r;
        EXPECT_EQ(m.received, chain.received) << r;
        continue;
      }
      const Count most = 2 * kSegments + (kSegments + r - 1) / r;
      EXPECT_LE(m.sent, most) << r;
      EXPECT_LE(m.received, most) << r;
      // Up to a fifth more, while ports or scratch are waited for.
      EXPECT_LE(5 * m.rounds, 6 * (most + (2 * r + 2) * levels)) << r;
      EXPECT_LE(m.sent, metrics(c, "two_tree", false).sent + (kSegments + r - 1) / r) << r;
    }
}

}  // namespace

}  // namespace unisono
