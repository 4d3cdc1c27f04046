#include "node/groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace unisono::node {
namespace {

TEST(Groups, AreOneUpToSixteenNeighbours) {
  for (const int size : {1, 2, 16}) EXPECT_TRUE(suitable_groups(size).are_one());
  EXPECT_EQ(suitable_groups(16, std::vector<int>(16, 3)).count(), 1);
  EXPECT_EQ(suitable_groups(17).count(), 3);
  EXPECT_EQ(suitable_groups(64).count(), 8);
  EXPECT_EQ(suitable_groups(128).count(), 8);
}

TEST(Groups, FollowDomainsWithRanksEnough) {
  EXPECT_EQ(suitable_groups(8, std::vector{7, 7, 7, 7, -1, -1, -1, -1}).count(), 2);
  EXPECT_EQ(suitable_groups(7, std::vector{7, 7, 7, 7, -1, -1, -1}).count(), 1);
  EXPECT_EQ(suitable_groups(2, std::vector{0, 1}).count(), 1);
}

TEST(Groups, HavePlacesInTheOrderOfRanks) {
  const Groups groups({0, 1, 0, 1, 0});
  EXPECT_EQ(groups.size(), 5);
  EXPECT_EQ(groups.leader(1), 1);
  EXPECT_EQ(groups.size_of(0), 3);
  EXPECT_EQ(groups.largest(), 3);
  EXPECT_EQ(groups.place_of(4), 2);
  EXPECT_TRUE(groups.leads(1));
  EXPECT_FALSE(groups.leads(2));
}

class SuitableGroups : public testing::TestWithParam<int> {};

/// Ranks placed one after the other, in turn, and unevenly.
TEST_P(SuitableGroups, AreEvenAndInOneDomain) {
  const int domains = GetParam();
  for (int size = 17; size <= 200; ++size)
    for (const bool in_turn : {false, true}) {
      std::vector<int> domain_of;
      for (int rank = 0; rank < size; ++rank)
        domain_of.push_back(in_turn ? rank % domains : rank * rank * domains / (size * size));
      const Groups groups = suitable_groups(size, domain_of);
      std::map<int, int> domain_of_group;
      std::map<int, std::vector<int>> sizes_in;  // by domain
      for (int rank = 0; rank < size; ++rank) {
        const int group = groups.of(rank), domain = domain_of[static_cast<std::size_t>(rank)];
        if (domain_of_group.emplace(group, domain).second) {
          EXPECT_EQ(groups.leader(group), rank);
          sizes_in[domain].push_back(groups.size_of(group));
        }
        EXPECT_EQ(domain_of_group[group], domain);
      }
      EXPECT_EQ(static_cast<int>(domain_of_group.size()), groups.count());
      EXPECT_LE(groups.largest(), size <= 64 ? 8 : 16);
      for (const auto& [domain, sizes] : sizes_in) {
        const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
        EXPECT_LE(*most - *least, 1);
      }
    }
}

INSTANTIATE_TEST_SUITE_P(, SuitableGroups, testing::Values(1, 2, 3, 8));

}  // namespace
}  // namespace unisono::node
