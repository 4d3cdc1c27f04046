#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "apps/common/random.h"
#include "apps/ft/classes.h"
#include "apps/ft/solver.h"

namespace apps::ft {
namespace {

TEST(Fft, IsTheFourierTransform) {
  for (const std::size_t n : {1u, 2u, 8u, 32u}) {
    NasRandom random;
    std::vector<Complex> x(n);
    for (Complex& value : x) value = {random.next(), random.next()};
    for (const int sign : {1, -1}) {
      std::vector<Complex> found = x;
      const Fft transform(n);
      transform(found.data(), sign);
      for (std::size_t k = 0; k < n; ++k) {
        Complex sum = 0;
        for (std::size_t j = 0; j < n; ++j)
          sum += x[j] * std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(j * k) /
                                            static_cast<double>(n));
        EXPECT_LT(std::abs(found[k] - sum), 1e-12) << "n " << n << " k " << k;
      }
    }
  }
}

TEST(NasRandom, JumpsToAnyPlace) {
  NasRandom walked;
  for (int i = 0; i < 1000; ++i) walked.next();
  EXPECT_EQ(NasRandom(1000).next(), walked.next());
  EXPECT_GT(NasRandom(12345).next(), 0);
}

TEST(Ft, HasThePublishedChecksums) {
  for (const char* name : {"S", "W"}) {
    const Class& of = kClasses.at(name);
    const std::vector<double> found = solve_serially(of.box, of.iterations());
    ASSERT_EQ(found.size(), of.checksums.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i] / of.checksums[i], 1, kEpsilon) << "class " << name << ", number " << i;
  }
}

TEST(Ft, SharesYWhereTheRanksCannotShareZ) {
  EXPECT_TRUE(can_share({128, 128, 32}, 32));
  EXPECT_TRUE(can_share({128, 128, 32}, 64));
  EXPECT_FALSE(can_share({128, 128, 32}, 3));
  EXPECT_FALSE(can_share({128, 32, 32}, 64));
}

}  // namespace
}  // namespace apps::ft
