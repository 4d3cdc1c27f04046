#include "apps/adams/solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace apps::adams {
namespace {

/// A solver of another kind: classical Runge-Kutta, with many small steps.
std::vector<double> runge_kutta(const Brusselator& equations, double end, int steps) {
  const double h = end / steps;
  std::vector<double> y = equations.initial();
  const std::size_t n = y.size();
  std::vector<double> at(n), rates(n), sum(n);
  for (int step = 0; step < steps; ++step) {
    std::fill(sum.begin(), sum.end(), 0.0);
    std::fill(rates.begin(), rates.end(), 0.0);
    const double from[] = {0, 0.5, 0.5, 1}, weight[] = {1, 2, 2, 1};
    for (int stage = 0; stage < 4; ++stage) {
      for (std::size_t i = 0; i < n; ++i) at[i] = y[i] + h * from[stage] * rates[i];
      equations.evaluate(at.data(), {0, equations.points()}, rates.data());
      for (std::size_t i = 0; i < n; ++i) sum[i] += weight[stage] * rates[i];
    }
    for (std::size_t i = 0; i < n; ++i) y[i] += h / 6 * sum[i];
  }
  return y;
}

double largest_difference(const std::vector<double>& x, const std::vector<double>& y) {
  double result = 0;
  for (std::size_t i = 0; i < x.size(); ++i) result = std::max(result, std::abs(x[i] - y[i]));
  return result;
}

class ParallelAdams : public testing::Test {
 protected:
  double error(const Method& method, int steps) const {
    return largest_difference(solve_serially({method, equations_, kEnd / steps}, steps),
                              reference_);
  }
  static constexpr double kEnd = 0.5;
  Brusselator equations_{6};
  std::vector<double> reference_ = runge_kutta(equations_, kEnd, 20000);
};

// With 4 stages, where rounding leaves room; the coefficients' tests cover 8.
TEST_F(ParallelAdams, HalfTheStepDividesTheErrorByTwoToTheOrder) {
  for (const int corrections : {0, 1}) {
    const Method method = parallel_adams(4, corrections);
    EXPECT_EQ(method.order(), corrections == 0 ? 5 : 6);
    const double order = std::log2(error(method, 80) / error(method, 160));
    EXPECT_NEAR(order, static_cast<double>(method.order()), 0.4);
  }
}

TEST_F(ParallelAdams, EightStagesAreMoreAccurateThanFour) {
  EXPECT_LT(error(parallel_adams(8, 0), 80), error(parallel_adams(4, 0), 80) / 1000);
  EXPECT_LT(error(parallel_adams(8, 1), 80), error(parallel_adams(4, 1), 80) / 1000);
}

// f at a point from the discretised equations, written out.
TEST(Brusselator, RatesAtACornerAndInside) {
  const Brusselator equations(3);
  std::vector<double> y(equations.size()), rates(equations.size());
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = 1 + 0.1 * static_cast<double>(i * i);
  equations.evaluate(y.data(), {0, 9}, rates.data());
  const double diffusion = 0.002 * 4;
  const auto u = [&](int point) { return y[static_cast<std::size_t>(2 * point)]; };
  const auto v = [&](int point) { return y[static_cast<std::size_t>(2 * point + 1)]; };
  EXPECT_NEAR(rates[0],
              1 + u(0) * u(0) * v(0) - 4.4 * u(0) + diffusion * (2 * u(1) + 2 * u(3) - 4 * u(0)),
              1e-12);
  EXPECT_NEAR(rates[9],
              3.4 * u(4) - u(4) * u(4) * v(4) + diffusion * (v(1) + v(3) + v(5) + v(7) - 4 * v(4)),
              1e-12 * std::abs(rates[9]));
}

}  // namespace
}  // namespace apps::adams
