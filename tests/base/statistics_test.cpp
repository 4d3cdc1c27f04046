#include "base/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace unisono {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values;
  for (int i = n; i >= 1; --i) values.push_back(i);
  return values;
}

TEST(Median, OddEvenAndSingle) {
  EXPECT_DOUBLE_EQ(median(one_to(5)), 3);
  EXPECT_DOUBLE_EQ(median(one_to(6)), 3.5);
  EXPECT_DOUBLE_EQ(median(one_to(1)), 1);
}

TEST(BinomialHalfCdf, KnownValues) {
  EXPECT_NEAR(binomial_half_cdf(0, 6), 1.0 / 64, 1e-12);
  EXPECT_NEAR(binomial_half_cdf(1, 10), 11.0 / 1024, 1e-12);
  EXPECT_NEAR(binomial_half_cdf(10, 10), 1, 1e-12);
  EXPECT_EQ(binomial_half_cdf(-1, 10), 0);
}

// Ranks of the bounds as tabulated for the sign test at 95 %.
TEST(EstimateMedian, TabulatedRanks) {
  struct Row {
    int n, low, high;
    double coverage;
  };
  for (const Row& row : {Row{6, 1, 6, 0.9688}, Row{8, 1, 8, 0.9922}, Row{9, 2, 8, 0.9609},
                         Row{20, 6, 15, 0.9586}, Row{50, 18, 33, 0.9672}}) {
    const MedianEstimate e = estimate_median(one_to(row.n));
    EXPECT_EQ(e.low, row.low) << row.n;
    EXPECT_EQ(e.high, row.high) << row.n;
    EXPECT_NEAR(e.coverage, row.coverage, 5e-5) << row.n;
  }
}

TEST(EstimateMedian, FewValuesGiveTheRangeAndSaySo) {
  const MedianEstimate e = estimate_median(one_to(3));
  EXPECT_EQ(e.low, 1);
  EXPECT_EQ(e.high, 3);
  EXPECT_NEAR(e.coverage, 0.75, 1e-12);
  EXPECT_EQ(estimate_median(one_to(1)).coverage, 0);
}

TEST(EstimateMedian, ManyValuesDoNotUnderflow) {
  const MedianEstimate e = estimate_median(one_to(4001));
  EXPECT_EQ(e.median, 2001);
  EXPECT_GE(e.coverage, 0.95);
  EXPECT_LT(e.coverage, 0.954);
  EXPECT_NEAR(e.high - e.low, 2 * 1.96 * std::sqrt(4001) / 2, 4);
}

TEST(EstimateMedian, CoversTheTrueMedianOfASkewedDistribution) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> exponential(1);
  int covered = 0;
  constexpr int kRuns = 4000;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> values(31);
    std::generate(values.begin(), values.end(), [&] { return exponential(random); });
    const MedianEstimate e = estimate_median(values);
    covered += e.low <= std::log(2.0) && std::log(2.0) <= e.high;
  }
  EXPECT_GE(covered, kRuns * 94 / 100);
}

TEST(PairedRatios, AreNotMovedByACommonDrift) {
  const std::vector<double> drift = {1, 2, 4, 8, 16};
  std::vector<double> a, b;
  for (const double d : drift) {
    a.push_back(3 * d);
    b.push_back(2 * d);
  }
  EXPECT_EQ(paired_ratios(a, b), std::vector<double>(5, 1.5));
}

}  // namespace
}  // namespace unisono
