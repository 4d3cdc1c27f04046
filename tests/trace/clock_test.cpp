#include "trace/clock.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace unisono::trace {
namespace {

TEST(Clock, TheShortestRoundTripCounts) {
  const std::vector<RoundTrip> trips = {{0, 1500, 900}, {1000, 2100, 1200}, {2000, 3400, 2500}};
  const ClockOffset offset = offset_by(trips);
  EXPECT_EQ(offset.at_ns, 1100);
  EXPECT_EQ(offset.offset_ns, 1000);
  EXPECT_EQ(offset.error_ns, 100);
}

TEST(Clock, AnOddRoundTripIsRoundedUp) {
  EXPECT_EQ(offset_by(std::vector<RoundTrip>{{10, 0, 13}}).error_ns, 2);
}

// However the delay is shared between the two ways, and over any number of clocks that drift.
TEST(Clock, TheTruthIsWithinTheErrorAlongAChain) {
  std::mt19937_64 random(1);
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int repeat = 0; repeat < 1000; ++repeat) {
    // Clock k shows shift + rate * t at true time t.
    struct Line {
      double shift, rate;
      std::int64_t operator()(double t) const {
        return static_cast<std::int64_t>(shift + rate * t);
      }
    };
    std::int64_t t = between(0, 1'000'000'000);
    Line parent{static_cast<double>(between(-1'000'000'000, 1'000'000'000)), 1};
    const Line root = parent;
    ClockOffset to_root{parent(static_cast<double>(t)), 0, 0};
    for (int k = 0; k < 5; ++k) {
      const Line mine{static_cast<double>(between(-1'000'000'000, 1'000'000'000)),
                      1 + 1e-7 * static_cast<double>(between(-240, 240))};
      std::vector<RoundTrip> trips;
      for (int i = 0; i < 10; ++i) {
        const double sent = static_cast<double>(t += between(0, 1'000'000));
        const double answered = static_cast<double>(t += between(1'000, 100'000));
        const double received = static_cast<double>(t += between(1'000, 100'000));
        trips.push_back({mine(sent), parent(answered), mine(received)});
      }
      to_root = compose(offset_by(trips), to_root);
      const double when = (static_cast<double>(to_root.at_ns) - mine.shift) / mine.rate;
      const double truth = static_cast<double>(root(when)) - static_cast<double>(to_root.at_ns);
      // Rounding: a nanosecond at each reading.
      EXPECT_NEAR(static_cast<double>(to_root.offset_ns), truth,
                  static_cast<double>(to_root.error_ns) + 2 * (k + 1));
      parent = mine;
    }
  }
}

TEST(Clock, DriftBetweenTheMeasurementsIsPartOfTheError) {
  const ClockOffset composed = compose({1'000'000, 500, 10}, {2'000'500, 70, 20});
  EXPECT_EQ(composed.at_ns, 1'000'000);
  EXPECT_EQ(composed.offset_ns, 570);
  EXPECT_EQ(composed.error_ns, 10 + 20 + 50);  // 50 ppm of a millisecond
}

}  // namespace
}  // namespace unisono::trace
