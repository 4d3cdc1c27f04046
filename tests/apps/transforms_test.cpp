#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "apps/common/random.h"
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

// The checksums that the NAS Parallel Benchmarks publish for FT, class S.
TEST(Ft, HasThePublishedChecksums) {
  const std::vector<double> published = {
      5.546087004964e+02, 4.845363331978e+02, 5.546385409189e+02, 4.865304269511e+02,
      5.546148406171e+02, 4.883910722336e+02, 5.545423607415e+02, 4.901273169046e+02,
      5.544255039624e+02, 4.917475857993e+02, 5.542683411902e+02, 4.932597244941e+02};
  const std::vector<double> found = solve_serially({64, 64, 64}, 6);
  ASSERT_EQ(found.size(), published.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i] / published[i], 1, 1e-12) << "number " << i;
}

}  // namespace
}  // namespace apps::ft
