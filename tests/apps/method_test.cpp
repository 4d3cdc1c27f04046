#include "apps/adams/method.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace apps::adams {
namespace {

TEST(Lobatto, FourAndFivePointsAsTabulated) {
  const Quadrature four = lobatto(4), five = lobatto(5);
  EXPECT_NEAR(four.nodes[1], (1 - std::sqrt(1.0 / 5)) / 2, 1e-15);
  EXPECT_NEAR(four.weights[0], 1.0 / 12, 1e-15);
  EXPECT_NEAR(four.weights[1], 5.0 / 12, 1e-15);
  EXPECT_NEAR(five.nodes[3], (1 + std::sqrt(3.0 / 7)) / 2, 1e-15);
  EXPECT_NEAR(five.weights[2], 16.0 / 45, 1e-15);
}

/// The largest stage after many steps of y' = lambda y with z = h lambda; all begin with 1.
double after_many_steps(const Method& m, double z) {
  const std::size_t k = m.stages;
  std::vector<double> y(k, 1.0);
  for (int step = 0; step < 2000; ++step) {
    std::vector<double> next(k);
    for (std::size_t i = 0; i < k; ++i) {
      double predicted = y.back(), base = y.back();
      for (std::size_t j = 0; j < k; ++j) {
        predicted += z * m.predictor[i * k + j] * y[j];
        base += z * m.corrector[i * k + j] * y[j];
      }
      next[i] = predicted;
      for (int c = 0; c < m.corrections; ++c) next[i] = base + z * m.implicit[i] * next[i];
    }
    y = next;
  }
  return std::abs(*std::max_element(y.begin(), y.end(),
                                    [](double a, double b) { return std::abs(a) < std::abs(b); }));
}

TEST(Stability, UpToTheStatedStep) {
  for (const std::size_t stages : {4, 8})
    for (const int corrections : {0, 1, 2, 3}) {
      const Method method = parallel_adams(stages, corrections);
      for (const double part : {0.1, 0.5, 0.9, 1.0})
        EXPECT_LT(after_many_steps(method, -part * kStableStep), 1e-6);
      EXPECT_FALSE(after_many_steps(method, -12 * kStableStep) < 1e6);
    }
}

class Coefficients : public testing::TestWithParam<std::size_t> {
 protected:
  /// By how much row i of `matrix` misses the integral of t^degree from 0 to `end`; `implicit`
  /// belongs to a_i.
  double miss(const std::vector<double>& matrix, std::size_t i, unsigned degree, double end,
              double implicit = 0) const {
    const double q = degree;
    double sum = implicit * std::pow(method_.abscissae[i], q);
    for (std::size_t j = 0; j < method_.stages; ++j)
      sum += matrix[i * method_.stages + j] * std::pow(method_.abscissae[j] - 1, q);
    return std::abs(sum - std::pow(end, q + 1) / (q + 1));
  }
  Method method_ = parallel_adams(GetParam(), 1);
  // The coefficients reach 4000 with 8 stages.
  static constexpr double kRounding = 1e-10;
};

TEST_P(Coefficients, TheLastStageIsTheSolutionAtTheEndOfTheStep) {
  EXPECT_EQ(method_.abscissae.front(), 2);
  EXPECT_EQ(method_.abscissae.back(), 1);
  EXPECT_EQ(method_.implicit.back(), 0);
}

// Stage order k of PAB and of the first stages, k + 1 of PAM; and no more, or the test sees
// nothing.
TEST_P(Coefficients, StagesAreExactToTheirDegree) {
  const auto k = static_cast<unsigned>(GetParam());
  for (std::size_t i = 0; i + 1 < k; ++i) {
    const double a = method_.abscissae[i];
    for (unsigned degree = 0; degree < k; ++degree) {
      EXPECT_LT(miss(method_.predictor, i, degree, a), kRounding);
      EXPECT_LT(miss(method_.start, i, degree, a - 1), kRounding);
      EXPECT_LT(miss(method_.corrector, i, degree, a, method_.implicit[i]), kRounding);
    }
    EXPECT_GT(miss(method_.predictor, i, k, a), 1e-6);
    EXPECT_LT(miss(method_.corrector, i, k, a, method_.implicit[i]), kRounding);
    EXPECT_GT(miss(method_.corrector, i, k + 1, a, method_.implicit[i]), 1e-8);
  }
}

// What lifts the order of the solution above that of the stages.
TEST_P(Coefficients, TheLastStageIsLobattoQuadrature) {
  const auto k = static_cast<unsigned>(GetParam());
  for (unsigned degree = 0; degree <= 2 * k - 3; ++degree) {
    EXPECT_LT(miss(method_.predictor, k - 1, degree, 1), kRounding);
    EXPECT_LT(miss(method_.corrector, k - 1, degree, 1), kRounding);
  }
  EXPECT_GT(miss(method_.predictor, k - 1, 2 * k - 2, 1), kRounding);
}

INSTANTIATE_TEST_SUITE_P(Stages, Coefficients, testing::Values(4, 5, 8));

}  // namespace
}  // namespace apps::adams
