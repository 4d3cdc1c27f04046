#include "apps/is/keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace apps::is {
namespace {

TEST(Keys, AreSortedByBucketsAndByCounting) {
  const Buckets buckets(10, 4);
  std::vector<Key> keys = draw(100, 5000, 10);
  EXPECT_EQ(draw(150, 1, 10)[0], keys[50]) << "a rank draws its part of the same sequence";
  std::vector<Key> expected = keys;
  std::sort(expected.begin(), expected.end());
  const std::vector<int> sizes = buckets.sizes(keys);
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), 0), 5000);
  std::vector<Key> ordered = buckets.ordered(keys, sizes);
  EXPECT_TRUE(std::is_sorted(ordered.begin(), ordered.end(),
                             [&](Key a, Key b) { return buckets.of(a) < buckets.of(b); }));
  EXPECT_EQ(fingerprint(ordered), fingerprint(keys));
  sort(ordered, 0, 1 << 10);
  EXPECT_EQ(ordered, expected);
  ++ordered[17];
  EXPECT_NE(fingerprint(ordered), fingerprint(keys));
}

TEST(Keys, AreSharedOutEvenly) {
  EXPECT_EQ(shared_out({5, 5, 5, 5}, 2), (std::vector<std::size_t>{0, 2, 4}));
  EXPECT_EQ(shared_out({0, 20, 0, 0}, 3), (std::vector<std::size_t>{0, 2, 2, 4}));
  EXPECT_EQ(shared_out({1, 1}, 4).back(), 2u) << "more ranks than buckets";
}

}  // namespace
}  // namespace apps::is
