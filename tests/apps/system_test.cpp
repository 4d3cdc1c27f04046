#include "apps/jacobi/system.h"

#include <gtest/gtest.h>

#include <cmath>

namespace apps::jacobi {
namespace {

/// The largest of |b - A x|.
double residual(const System& system, const std::vector<double>& x) {
  double largest = 0;
  for (std::size_t i = 0; i < system.rows(); ++i) {
    double sum = system.diagonal() * x[i];
    for (std::size_t j = 0; j < system.rows(); ++j) sum += system.off_diagonal(i, j) * x[j];
    largest = std::max(largest, std::abs(system.right_side(i) - sum));
  }
  return largest;
}

TEST(Jacobi, ConvergesToTheSolution) {
  const System system(50);
  const double first = residual(system, solve_serially(system, 1));
  EXPECT_LT(residual(system, solve_serially(system, 60)), 1e-12);
  // Each iteration about halves it, so that a missing one is seen.
  const double tenth = residual(system, solve_serially(system, 10));
  EXPECT_LT(tenth, first * std::pow(0.6, 9));
  EXPECT_GT(tenth, first * std::pow(0.4, 9));
}

}  // namespace
}  // namespace apps::jacobi
