#include "trace/fast_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "trace/clock.h"

namespace unisono::trace {
namespace {

TEST(FastClock, ShowsTheTimeOfTheKernelAndNeverGoesBack) {
  FastClock clock;
  const std::int64_t begin = now_ns();
  std::int64_t last = 0;
  std::vector<std::int64_t> errors;
  while (last - begin < 100'000'000) {  // ten comparisons
    const std::int64_t before = now_ns(), now = clock.now_ns(), after = now_ns();
    ASSERT_GE(now, last);
    last = now;
    errors.push_back(std::max({before - now, now - after, std::int64_t{0}}));
  }
  std::ranges::sort(errors);
  // A reading that was disturbed may be off until the next comparison; a wrong rate or base shows.
  EXPECT_LT(errors[errors.size() / 2], 1'000);
  EXPECT_LT(errors.back(), 5'000'000);
}

}  // namespace
}  // namespace unisono::trace
