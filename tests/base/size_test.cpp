#include "base/size.h"

#include <gtest/gtest.h>

namespace unisono {
namespace {

TEST(Size, ReadsPowersOf1024) {
  EXPECT_EQ(parse_size("0"), 0);
  EXPECT_EQ(parse_size("1000"), 1000);
  EXPECT_EQ(parse_size("4k"), 4096);
  EXPECT_EQ(parse_size("64K"), 65536);
  EXPECT_EQ(parse_size("64KB"), 65536);
  EXPECT_EQ(parse_size("64KiB"), 65536);
  EXPECT_EQ(parse_size("1M"), 1 << 20);
  EXPECT_EQ(parse_size("3G"), std::int64_t{3} << 30);
}

TEST(Size, RefusesEverythingElse) {
  for (const char* text : {"", "K", "-1", "4 K", "4KK", "4X", "1.5M", "0x10", "4Kib",
                           "9223372036854775808", "9007199254740993K", "+4"})
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
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
