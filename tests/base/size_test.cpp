#include "base/size.h"

#include <gtest/gtest.h>

namespace unisono {
namespace {

struct Written {
  const char* text;
  std::int64_t bytes;
};

constexpr Written kWritten[] = {
#include "tests/base/sizes.inc"
};

TEST(Size, ReadsWhatTheTableSays) {
  for (const Written& one : kWritten)
    EXPECT_EQ(parse_size(one.text).value_or(-1), one.bytes) << one.text;
}

TEST(Size, WritesTheShortestExactForm) {
  EXPECT_EQ(format_size(0), "0");
  EXPECT_EQ(format_size(1000), "1000");
  EXPECT_EQ(format_size(1536), "1536");
  EXPECT_EQ(format_size(65536), "64K");
  EXPECT_EQ(format_size(1 << 20), "1M");
}

TEST(Size, RoundTrips) {
  for (const std::int64_t bytes : {1L, 1023L, 1024L, 1025L, 123456789L, 1L << 40, 5L << 40})
    EXPECT_EQ(parse_size(format_size(bytes)), bytes);
}

}  // namespace
}  // namespace unisono
