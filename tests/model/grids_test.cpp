#include "model/grids.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <set>

namespace unisono {
namespace {

TEST(Grids, AllOrderedFactorisationsOnce) {
  EXPECT_EQ(factorisations(12, 2), (std::vector<Shape>{{2, 6}, {3, 4}, {4, 3}, {6, 2}}));
  const auto of_96 = factorisations(96, 3);
  EXPECT_EQ(std::set<Shape>(of_96.begin(), of_96.end()).size(), of_96.size());
  // By hand: 10 divisors between 2 and 48, and sum over the first factor of those of the rest.
  EXPECT_EQ(factorisations(96, 2).size(), 10U);
  std::size_t count = 10;
  for (int a = 2; a < 96; ++a)
    for (int b = 2; b < 96; ++b)
      if (96 % (a * b) == 0 && 96 / (a * b) >= 2) ++count;
  EXPECT_EQ(of_96.size(), count);
  for (const Shape& shape : of_96)
    EXPECT_EQ(std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>()), 96);
}

TEST(Grids, PrimesAndTheSmallestHaveNoFactorisation) {
  for (const int p : {1, 2, 3, 17, 97}) EXPECT_TRUE(factorisations(p, 3).empty()) << p;
}

TEST(Grids, RaggedShapesHoldAllRanksAndEveryRowHasSome) {
  for (int p = 1; p <= 200; ++p)
    for (const Shape& shape : ragged_shapes(p)) {
      ASSERT_EQ(shape.size(), 2U);
      EXPECT_LT((shape[0] - 1) * shape[1], p);
      EXPECT_GT(shape[0] * shape[1], p);
    }
}

TEST(Grids, RaggedShapesAreForAwkwardNumbersOnly) {
  for (const int p : {4, 6, 8, 12, 16, 32, 64}) EXPECT_TRUE(ragged_shapes(p).empty()) << p;
  for (const int p : {7, 10, 11, 13, 17, 22, 34, 97}) EXPECT_FALSE(ragged_shapes(p).empty()) << p;
}

}  // namespace
}  // namespace unisono
