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
Sample noisy(Quantity quantity, LevelId level, Count bytes, double seconds, std::mt19937& random) {
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
    samples.samples.push_back(noisy(Quantity::one_way, kBetweenNodes, bytes, t, random));
    samples.samples.push_back(noisy(Quantity::gap, kBetweenNodes, bytes, t / 2, random));
    samples.samples.push_back(noisy(Quantity::exchange, kBetweenNodes, bytes, 8 * t, random));
    samples.samples.back().active = 8;
    const double b = static_cast<double>(bytes);
    samples.samples.push_back(
        noisy(Quantity::reduce, kWithinNode, bytes, 1e-6 + 5e-10 * b, random));
    samples.samples.push_back(noisy(Quantity::copy, kWithinNode, bytes, 1e-10 * b, random));
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

/// l_PIO, l_DMA, l_cpy and l_cmb.
double stores(double bytes) { return 3e-7 + 3e-10 * bytes; }
double single_copy(double bytes) { return 2e-6 + 1e-10 * bytes; }
double memory_copy(double bytes) { return 5e-9 + 2e-11 * bytes; }
double memory_combine(double bytes) { return 5e-9 + 4e-11 * bytes; }

void add_node_memory(Samples& samples) {
  std::mt19937 random(8);
  const auto add = [&](Quantity quantity, Count bytes, double seconds) {
    samples.samples.push_back(noisy(quantity, kWithinNode, bytes, seconds, random));
  };
  for (const Count bytes : kSizes) {
    const auto d = static_cast<double>(bytes);
    add(Quantity::stores_one_way, bytes, stores(d));
    add(Quantity::stores_gap, bytes, stores(d) / 2);
    add(Quantity::single_copy_one_way, bytes, single_copy(d));
    add(Quantity::single_copy_gap, bytes, single_copy(d) / 2);
    add(Quantity::memory_copy, bytes, memory_copy(d));
    add(Quantity::memory_combine, bytes, memory_combine(d));
  }
  add(Quantity::fence, 0, 2e-7);
}

TEST(Fit, TheMemoryOfANode) {
  Samples samples = synthetic();
  EXPECT_FALSE(fit(samples)->node_memory) << "older samples have none";
  add_node_memory(samples);
  const auto machine = fit(samples);
  ASSERT_TRUE(machine) << machine.error();
  ASSERT_TRUE(machine->node_memory);
  const MemoryTimes& memory = *machine->node_memory;
  ASSERT_TRUE(memory.single_copy);
  for (const Count bytes : {1, 100, 3000, 50000, 1000000}) {
    const auto d = static_cast<double>(bytes);
    EXPECT_NEAR(memory.stores.one_way(bytes), stores(d), 0.1 * stores(d)) << bytes;
    EXPECT_NEAR(memory.stores.gap(bytes), stores(d) / 2, 0.1 * stores(d) / 2) << bytes;
    EXPECT_NEAR(memory.single_copy->one_way(bytes), single_copy(d), 0.1 * single_copy(d)) << bytes;
    EXPECT_NEAR(memory.single_copy->gap(bytes), single_copy(d) / 2, 0.1 * single_copy(d) / 2);
    EXPECT_NEAR(memory.copy(bytes), memory_copy(d), 0.15 * memory_copy(d)) << bytes;
    EXPECT_NEAR(memory.combine(bytes), memory_combine(d), 0.15 * memory_combine(d)) << bytes;
  }
  EXPECT_NEAR(memory.fence, 2e-7, 0.1 * 2e-7);
  EXPECT_FALSE(memory.copies_once(4096));
  EXPECT_TRUE(memory.copies_once(65536));
}

TEST(Fit, WhereSingleCopyIsNotPermittedStoresAreLeft) {
  Samples samples = synthetic();
  add_node_memory(samples);
  std::erase_if(samples.samples, [](const Sample& sample) {
    return sample.quantity == Quantity::single_copy_one_way ||
           sample.quantity == Quantity::single_copy_gap;
  });
  const auto machine = fit(samples);
  ASSERT_TRUE(machine && machine->node_memory);
  EXPECT_FALSE(machine->node_memory->single_copy);
  EXPECT_FALSE(machine->node_memory->copies_once(1 << 20));
}

TEST(Fit, SamplesOfTheMemoryOfANodeAreRead) {
  const auto samples = read_samples(
      R"({"format":"unisono-samples","version":1,"mpi":{"flavour":"a","library":"b"},"samples":[
          {"quantity":"stores_one_way","level":0,"bytes":64,"seconds":[3e-7]},
          {"quantity":"memory_combine","level":0,"bytes":64,"seconds":[1e-8]},
          {"quantity":"fence","level":0,"bytes":0,"seconds":[2e-7,3e-7]}]})");
  ASSERT_TRUE(samples) << samples.error();
  EXPECT_EQ(samples->samples[0].quantity, Quantity::stores_one_way);
  EXPECT_EQ(samples->samples[1].quantity, Quantity::memory_combine);
  EXPECT_EQ(samples->samples[2].quantity, Quantity::fence);
  EXPECT_EQ(samples->samples[2].seconds.size(), 2U);
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
  std::erase_if(samples.samples, [](const Sample& s) { return s.quantity == Quantity::gap; });
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
