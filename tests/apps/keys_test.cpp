#include "apps/is/keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "apps/is/classes.h"

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
  const std::vector<int> ranks = ranked(ordered, 0, 1 << 10);
  EXPECT_EQ(ranks.back(), 5000);
  EXPECT_EQ(ranks[512], std::lower_bound(expected.begin(), expected.end(), 512) - expected.begin());
  EXPECT_EQ(sorted(ranks, 0), expected);
  ++ordered[17];
  EXPECT_NE(fingerprint(ordered), fingerprint(keys));
}

TEST(Keys, ChangeOnTheRankThatHasThem) {
  std::vector<Key> keys(8, 7), later(8, 7);  // numbers 0 to 7, and 8 to 15
  change(keys, 0, 3, 10);
  change(later, 8, 3, 10);
  EXPECT_EQ(keys, (std::vector<Key>{7, 7, 7, 3, 7, 7, 7, 7}));
  EXPECT_EQ(later, (std::vector<Key>{7, 7, 7, 7, 7, 1021, 7, 7}));
  const std::vector<Key> before = keys;
  change(keys, 0, 1024, 10);
  EXPECT_EQ(keys, before) << "no key has so many bits";
}

// The published ranks, by one rank and without buckets: the table is right, and so are the keys.
TEST(Keys, HaveThePublishedRanks) {
  for (const char* name : {"S", "W", "A"}) {
    const Class& of = kClasses.at(name);
    std::vector<Key> keys = draw(0, std::size_t{1} << of.key_bits, of.bits);
    for (int i = 1; i <= kIterations; ++i) {
      change(keys, 0, i, of.bits);
      if (i > 2 && i < kIterations) continue;  // first, next and last
      const std::vector<int> ranks = ranked(keys, 0, Key{1} << of.bits);
      for (const Tested& one : of.tested)
        EXPECT_EQ(ranks[static_cast<std::size_t>(keys[one.index])], one.in(i))
            << "class " << name << ", key " << one.index << ", iteration " << i;
    }
  }
}

TEST(Keys, AreSharedOutEvenly) {
  EXPECT_EQ(shared_out({5, 5, 5, 5}, 2), (std::vector<std::size_t>{0, 2, 4}));
  EXPECT_EQ(shared_out({0, 20, 0, 0}, 3), (std::vector<std::size_t>{0, 2, 2, 4}));
  EXPECT_EQ(shared_out({1, 1}, 4).back(), 2u) << "more ranks than buckets";
}

}  // namespace
}  // namespace apps::is
