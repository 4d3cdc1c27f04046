// Streams as they come through ports with token buckets, looked at by ranks that may be late.
#include "model/stream_rate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace unisono {
namespace {

constexpr double kLine = 1.25e9;  // bytes a second, before the bucket is empty
constexpr double kSeconds = 20e-3, kLook = 0.25e-3;

struct Port {
  double rate = 0;    // bytes a second
  double bucket = 0;  // bytes
  double train = 0;   // bytes that come together

  double passed(double seconds) const {
    const double bytes = std::min(kLine * seconds, bucket + rate * seconds);
    return train > 0 ? train * std::floor(bytes / train) : bytes;
  }
};

/// Looks at what a port has passed; the sender pauses once for so long, in the middle.
std::vector<Arrived> seen(const Port& port, double pause = 0, double late = 0) {
  std::mt19937 random(7);
  std::exponential_distribution<double> lateness(late > 0 ? 1 / late : 1);
  std::vector<Arrived> all;
  for (double t = 0; t < kSeconds; t += kLook + (late > 0 ? lateness(random) : 0)) {
    const double stopped = std::clamp(t - kSeconds / 2, 0.0, pause);
    all.push_back({t, port.passed(t - stopped)});
  }
  return all;
}

constexpr double kMegabit = 1e6 / 8;

TEST(StreamRate, IsThatBehindTheBucket) {
  for (const double megabits : {20, 100, 400, 1000, 5000})
    for (const double bucket : {0.0, 3e3, 64e3})
      for (const double train_seconds : {0.0, 0.5e-3}) {
        const double train = std::max(1448.0, train_seconds * megabits * kMegabit);
        SCOPED_TRACE(testing::Message() << megabits << " Mb/s, " << bucket << ", " << train);
        const Port port{megabits * kMegabit, bucket, train};
        for (const auto& stream : {seen(port), seen(port, 4e-3), seen(port, 0, 1e-3)}) {
          const auto found = seconds_per_byte(stream);
          ASSERT_TRUE(found);
          EXPECT_NEAR(*found * port.rate, 1, 0.1);
        }
      }
}

TEST(StreamRate, IsNotSaidWhereNobodyCanTell) {
  EXPECT_FALSE(seconds_per_byte({}));
  EXPECT_FALSE(seconds_per_byte(std::vector<Arrived>{{0, 0}, {1, 8192}, {2, 16384}}));
  EXPECT_FALSE(seconds_per_byte(std::vector<Arrived>(50, {1, 8192}))) << "nothing came";
  // At last at a tenth of the rate.
  std::vector<Arrived> uneven = seen({100 * kMegabit, 0, 0});
  for (Arrived& one : uneven)
    one.bytes = std::min(one.bytes, 120e3) + std::max(0.0, one.bytes - 120e3) / 10;
  EXPECT_FALSE(seconds_per_byte(uneven));
}

}  // namespace
}  // namespace unisono
