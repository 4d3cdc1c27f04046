#include "apps/nbody/bodies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace apps::nbody {
namespace {

TEST(Bodies, KeepTheirEnergy) {
  const double energy = solve_serially(60, 0.01, 0).energy;
  EXPECT_LT(energy, 0) << "they stay together";
  EXPECT_NEAR(solve_serially(60, 0.01, 100).energy / energy, 1, 1e-4);
}

TEST(Bodies, MoveToSecondOrder) {
  constexpr int kSteps = 25;
  const auto end = [](int finer) {
    return solve_serially(60, 0.02 / finer, kSteps * finer).positions;
  };
  const std::vector<Vector> exact = end(16);
  const auto error = [&](const std::vector<Vector>& found) {
    double largest = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
      largest = std::max(largest, std::abs(found[i][0] - exact[i][0]));
    return largest;
  };
  EXPECT_NEAR(error(end(1)) / error(end(2)), 4, 0.5) << "half the step, a quarter of the error";
}

TEST(Bodies, KeepTheirMomentum) {
  // Centres of mass move evenly: the second differences are 0.
  double centre[3] = {};
  for (int steps = 0; steps < 3; ++steps)
    for (const Vector& x : solve_serially(30, 0.1, steps * 5).positions) centre[steps] += x[0];
  EXPECT_NEAR(centre[2] - centre[1], centre[1] - centre[0], 1e-12);
}

}  // namespace
}  // namespace apps::nbody
