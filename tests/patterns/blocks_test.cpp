#include "patterns/blocks.h"

#include <gtest/gtest.h>

#include "schedule/problem.h"

namespace unisono {

namespace {

TEST(BlockOrder, EqualBlocksAreARunUnlessTheyPassTheLastRank) {
  const BlockOrder order({.count = 3, .counts = {}, .displs = {}}, Rotation{5, 2});
  EXPECT_EQ(order.length(1, 4), 9);
  EXPECT_EQ(order.run(kOutput, 0, 3), (Slice{kOutput, 6, 9}));
  EXPECT_EQ(order.run(kOutput, 3, 5), (Slice{kOutput, 0, 6}));
  EXPECT_EQ(order.run(kOutput, 2, 4), std::nullopt);
}

TEST(BlockOrder, IrregularBlocksAreARunWhereTheirDisplacementsSaySo) {
  const Count counts[] = {2, 0, 3, 1};
  const Count displs[] = {10, 99, 12, 4};
  const BlockOrder order({.count = 0, .counts = counts, .displs = displs}, Rotation{4, 0});
  EXPECT_EQ(order.run(kInput, 0, 3), (Slice{kInput, 10, 5})) << "an empty block may lie anywhere";
  EXPECT_EQ(order.run(kInput, 0, 4), std::nullopt);
  EXPECT_EQ(order.run(kInput, 1, 2)->length, 0);
  EXPECT_EQ(order.partition({kInput, 50, 6}).range(2, 4), (Slice{kInput, 52, 4}));
}

TEST(BlockOrder, DisplacementsMayBeNegative) {
  const Count counts[] = {2, 3, 4};
  const Count displs[] = {0, -20, -10};
  const BlockOrder order({.count = 0, .counts = counts, .displs = displs}, Rotation{3, 0});
  EXPECT_EQ(order.run(kOutput, 1, 3), std::nullopt);
  EXPECT_EQ(order.run(kOutput, 1, 2), (Slice{kOutput, -20, 3}));
}

TEST(CopyBlocks, NeighboursOnBothSidesAreOneOp) {
  Builder b(Args{});
  const Slice from = b.scratch(8), into = b.scratch(8);
  b.copy({kInput, 0, 8}, from);
  copy_blocks(
      b, 4, [&](int i) { return from.part(2 * i, 2); },
      [&](int i) { return into.part(i < 2 ? 2 * i : 2 * (5 - i), 2); });
  EXPECT_EQ(std::move(b).finish().ops().size(), 4U) << "the first two together, then one by one";
}

TEST(StagedInput, OnlyInPlaceInputIsCopied) {
  for (const bool in_place : {false, true}) {
    Problem problem;
    problem.collective = Collective::alltoall;
    problem.size = 4;
    problem.count = 2;
    problem.in_place = in_place;
    const ArgsOfRanks ranks(problem);
    Builder b(ranks[1]);
    const auto input_block = staged_input(b);
    EXPECT_EQ(input_block(1).buffer, in_place ? kOutput : kInput) << "the own block stays";
    EXPECT_EQ(input_block(0).buffer, in_place ? kFirstScratch : kInput);
    EXPECT_EQ(std::move(b).finish().ops().size(), in_place ? 2U : 0U);
  }
}

}  // namespace

}  // namespace unisono
