#include "apps/dsm/diff.h"

#include <gtest/gtest.h>

#include <cstring>

#include "apps/dsm/region.h"

namespace apps::dsm {
namespace {

constexpr std::size_t kPage = 4096;

Bytes page_of(std::initializer_list<std::pair<std::size_t, int>> words) {
  Bytes page(kPage);
  for (const auto& [word, value] : words) std::memcpy(&page[word * 4], &value, 4);
  return page;
}

TEST(Diff, HoldsWhatHasChangedAndNothingElse) {
  const Bytes before = page_of({{0, 1}, {5, 9}, {1023, 7}});
  const Bytes now = page_of({{0, 2}, {5, 9}, {6, 3}, {7, 4}, {1023, 8}});
  Bytes records;
  EXPECT_TRUE(append_changes(17, now.data(), before.data(), kPage, records));
  EXPECT_EQ(records.size(), 8u + 3 * 8 + 4 * 4) << "three runs, four words";
  // Of another writer of the page, who has changed word 5.
  Bytes target = page_of({{0, 1}, {5, 11}, {1023, 7}});
  Records walk(records.data(), records.size());
  ASSERT_TRUE(walk.more());
  EXPECT_EQ(walk.page(), 17u);
  walk.apply(target.data());
  EXPECT_EQ(target, page_of({{0, 2}, {5, 11}, {6, 3}, {7, 4}, {1023, 8}}));
  EXPECT_FALSE(walk.more());
}

TEST(Diff, IsNothingWhereNothingHasChanged) {
  const Bytes page = page_of({{3, 3}});
  Bytes records(5);
  EXPECT_FALSE(append_changes(0, page.data(), page.data(), kPage, records));
  EXPECT_EQ(records.size(), 5u);
}

TEST(Diff, FollowsOthers) {
  const Bytes zero(kPage), one = page_of({{1023, 1}});
  Bytes records, target(kPage);
  append_page(4, one.data(), kPage, records);
  append_changes(5, one.data(), zero.data(), kPage, records);
  Records walk(records.data(), records.size());
  for (const PageNumber expected : {4u, 5u}) {
    ASSERT_TRUE(walk.more());
    EXPECT_EQ(walk.page(), expected);
    std::fill(target.begin(), target.end(), std::byte{0});
    walk.apply(target.data());
    EXPECT_EQ(target, one);
  }
  EXPECT_FALSE(walk.more());
}

TEST(Region, IsSeenTwice) {
  Region region(3);
  const auto address = reinterpret_cast<std::byte*>(0x210000000000);
  ASSERT_TRUE(region.show_at(address));
  EXPECT_FALSE(Region(1).show_at(address)) << "it is taken";
  region.library(1)[5] = std::byte{42};
  region.allow(1, 1, Access::read);
  EXPECT_EQ(region.program(1)[5], std::byte{42});
  EXPECT_EQ(region.page_of(region.program(1) + 5), 1u);
  EXPECT_TRUE(region.contains(region.program(2)));
  EXPECT_FALSE(region.contains(region.program(3)));
  EXPECT_FALSE(region.contains(region.library(0)));
  EXPECT_DEATH(region.program(1)[5] = std::byte{1}, "") << "it may only be read";
  region.allow(0, 3, Access::write);
  region.program(2)[0] = std::byte{7};
  EXPECT_EQ(region.library(2)[0], std::byte{7});
}

}  // namespace
}  // namespace apps::dsm
