#include "model/fit.h"

#include <gtest/gtest.h>

#include <random>

namespace unisono {
namespace {

/// An eager and a rendezvous protocol, the change at 16K.
double truth(double bytes) { return bytes <= 16384 ? 20e-6 + 8e-9 * bytes : 300e-6 + 1e-9 * bytes; }

const std::vector<Count> kSizes{1,    4,     16,    64,     256,    1024,   4096,
                                8192, 16384, 65536, 131072, 262144, 1048576};

/// Times with noise of 3 %, of which every third met a timeout of 200 ms.
Sample noisy(Sample::Quantity quantity, LevelId level, Count bytes, double seconds,
             std::mt19937& random) {
  std::normal_distribution<double> noise(1, 0.03);
  Sample sample{quantity, level, bytes, 1, {}};
  for (int i = 0; i < 15; ++i)
    sample.seconds.push_back(i % 3 == 0 ? 0.2 : seconds * std::abs(noise(random)));
  return sample;
}

Samples synthetic() {
  std::mt19937 random(7);
  Samples samples{"mpich", "MPICH 4", {}};
  for (const Count bytes : kSizes) {
    const double t = truth(static_cast<double>(bytes));
    samples.samples.push_back(noisy(Sample::one_way, kBetweenNodes, bytes, t, random));
    samples.samples.push_back(noisy(Sample::gap, kBetweenNodes, bytes, t / 2, random));
    samples.samples.push_back(noisy(Sample::exchange, kBetweenNodes, bytes, 8 * t, random));
    samples.samples.back().active = 8;
    const double b = static_cast<double>(bytes);
    samples.samples.push_back(noisy(Sample::reduce, kWithinNode, bytes, 1e-6 + 5e-10 * b, random));
    samples.samples.push_back(noisy(Sample::copy, kWithinNode, bytes, 1e-10 * b, random));
  }
  return samples;
}

TEST(Fit, TimeoutsDoNotMatter) {
  const auto machine = fit(synthetic());
  ASSERT_TRUE(machine) << machine.error();
  EXPECT_FALSE(machine->levels[kWithinNode]);
  const LevelCosts& level = *machine->levels[kBetweenNodes];
  for (const Count bytes : {1, 100, 3000, 12000, 50000, 200000, 1000000}) {
    const double t = truth(static_cast<double>(bytes));
    EXPECT_NEAR(level.one_way(bytes), t, 0.1 * t) << bytes;
    EXPECT_NEAR(level.gap(bytes), t / 2, 0.1 * t / 2) << bytes;
    EXPECT_NEAR(level.exchange(bytes), 8 * t, 0.1 * 8 * t) << bytes;
    EXPECT_NEAR(level.shared(bytes), t, 0.2 * t) << bytes;  // (8 - 1) t for 7 others
  }
  EXPECT_LE(level.one_way.pieces.size(), 3U);
  EXPECT_NEAR(machine->gamma, 5e-10, 5e-11);
  EXPECT_NEAR(machine->copy, 1e-10, 1e-11);
}

TEST(Fit, ASizeWithAWrongMedianDoesNotMatter) {
  for (const std::size_t wrong : {2U, 5U, 10U}) {
    std::vector<Point> points;
    for (const Count bytes : kSizes)
      points.push_back({static_cast<double>(bytes), truth(static_cast<double>(bytes))});
    points[wrong].seconds = 0.2;
    const Cost cost = fit_cost(points);
    for (const Count bytes : kSizes) {
      const double t = truth(static_cast<double>(bytes));
      EXPECT_NEAR(cost(bytes), t, 0.1 * t) << bytes << ", wrong at " << points[wrong].bytes;
    }
  }
}

TEST(Fit, ALineIsRecoveredExactly) {
  std::vector<Point> points;
  for (const double bytes : {1., 10., 100., 1e4, 1e6})
    points.push_back({bytes, 3e-6 + 1e-9 * bytes});
  const Cost cost = fit_cost(points);
  ASSERT_EQ(cost.pieces.size(), 1U);
  EXPECT_NEAR(cost.pieces[0].alpha, 3e-6, 1e-12);
  EXPECT_NEAR(cost.pieces[0].beta, 1e-9, 1e-15);
}

TEST(Fit, OneAndTwoPoints) {
  EXPECT_DOUBLE_EQ(fit_cost(std::vector<Point>{{8, 2e-6}})(8), 2e-6);
  const Cost two = fit_cost(std::vector<Point>{{8, 2e-6}, {16, 4e-6}});
  EXPECT_NEAR(two(12), 3e-6, 1e-15);
}

TEST(Fit, WhatIsMissingIsSaid) {
  Samples samples = synthetic();
  std::erase_if(samples.samples, [](const Sample& s) { return s.quantity == Sample::gap; });
  EXPECT_NE(fit(samples).error().find("gap"), std::string::npos);
  samples.samples.clear();
  EXPECT_NE(fit(samples).error().find("no one-way times"), std::string::npos);
}

TEST(Fit, BrokenSamplesAreOneLine) {
  for (const char* text : {"", "{}", "[1]", R"({"format":"unisono-samples","version":1})",
                           R"({"format":"unisono-samples","version":1,"mpi":{"flavour":"a",
                              "library":"b"},"samples":[{"quantity":"speed"}]})"}) {
    const auto samples = read_samples(text);
    ASSERT_FALSE(samples) << text;
    EXPECT_EQ(samples.error().find('\n'), std::string::npos) << samples.error();
  }
}

}  // namespace
}  // namespace unisono
