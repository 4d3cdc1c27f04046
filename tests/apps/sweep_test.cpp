#include <gtest/gtest.h>

#include <cmath>

#include "apps/sweep/hydro.h"

namespace apps::sweep {
namespace {

TEST(Sweep, KeepsMassAndEnergy) {
  const auto before = totals(solve_serially(48, 0)), after = totals(solve_serially(48, 30));
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i] / before[i], 1, 1e-12);
}

// The blast lies in the middle, the shear changes its sign there: turned by 180 degrees, the flow
// is the same.
TEST(Sweep, KeepsTheSymmetryAndSpreadsTheBlast) {
  constexpr std::size_t n = 48;
  const std::vector<Cell> first = solve_serially(n, 0), last = solve_serially(n, 30);
  for (std::size_t i = 0; i < last.size(); ++i) {
    const Cell &cell = last[i], &turned = last[last.size() - 1 - i];
    EXPECT_NEAR(cell[0], turned[0], 1e-10);
    EXPECT_NEAR(cell[1], -turned[1], 1e-10);
    EXPECT_GT(cell[0], 0);
  }
  const std::size_t middle = n / 2 * n + n / 2;
  EXPECT_LT(last[middle][3], 0.5 * first[middle][3]);
}

}  // namespace
}  // namespace apps::sweep
