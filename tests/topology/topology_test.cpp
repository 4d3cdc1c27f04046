#include "topology/topology.h"

#include <gtest/gtest.h>

#include <vector>

namespace unisono {
namespace {

std::vector<std::vector<int>> groups(const RankPartition& partition) {
  std::vector<std::vector<int>> all;
  for (int i = 0; i < partition.groups(); ++i) all.push_back(partition.group(i).ranks);
  return all;
}

using Groups = std::vector<std::vector<int>>;

TEST(RankPartition, HoldsEveryRankOnceWhereverItStands) {
  const RankPartition nodes(std::vector{9, 4, 9, 4, 4, 1});
  EXPECT_EQ(groups(nodes), (Groups{{0, 2}, {1, 3, 4}, {5}}));
  EXPECT_FALSE(nodes.is_even() || nodes.is_in_rank_order());
  EXPECT_EQ(std::vector<int>(nodes.lengths().begin(), nodes.lengths().end()),
            (std::vector{3, 2, 1}));
  for (int rank = 0; rank < nodes.size(); ++rank) {
    const int position = nodes.before(nodes.group_of(rank)) + nodes.place_of(rank);
    EXPECT_EQ(nodes.rank_at(position), rank);
  }
  EXPECT_TRUE(RankPartition(std::vector{3, 3, 1, 1}).is_even());
  EXPECT_TRUE(RankPartition(std::vector{3, 1, 1}).is_in_rank_order());
}

TopologyLabels two_switches() {
  TopologyLabels labels;
  labels.at(Level::network_switch) = {0, 0, 0, 0, 1, 1, 1};
  labels.at(Level::node) = {0, 1, 0, 1, 2, 3, 2};
  return labels;
}

TEST(Topology, KnowsTheLevelsThatEveryRankHasANumberFor) {
  TopologyLabels labels = two_switches();
  labels.at(Level::numa) = {0, 0, 0, TopologyLabels::kNoLabel, 0, 0, 0};
  const Topology topology(7, labels);
  ASSERT_TRUE(topology.at(Level::node) && topology.at(Level::network_switch));
  EXPECT_EQ(groups(*topology.at(Level::node)), (Groups{{0, 2}, {1, 3}, {4, 6}, {5}}));
  EXPECT_EQ(topology.at(Level::numa), nullptr);   // one rank may run anywhere
  EXPECT_EQ(topology.at(Level::cache), nullptr);  // nobody asked
}

TEST(Topology, CutsGroupsAtTheBordersOfFartherLevels) {
  TopologyLabels labels;
  labels.at(Level::node) = {0, 0, 1, 1};
  labels.at(Level::cache) = {5, 5, 5, 5};  // the same number on two nodes
  const Topology topology(4, labels);
  EXPECT_EQ(groups(*topology.at(Level::cache)), (Groups{{0, 1}, {2, 3}}));
}

TEST(Topology, OfGroupsIsThatOfWhoeverStandsForThem) {
  const Topology topology(7, two_switches());
  const Topology& nodes = topology.of_groups(Level::node);
  EXPECT_EQ(nodes.size(), 4);
  EXPECT_EQ(nodes.at(Level::node), nullptr);
  EXPECT_EQ(groups(*nodes.at(Level::network_switch)), (Groups{{0, 1}, {2, 3}}));
}

TEST(Topology, OfSomeRanksInAnotherOrder) {
  const Topology part(4, two_switches().restricted_to(std::vector{5, 0, 4, 2}));
  EXPECT_EQ(groups(*part.at(Level::node)), (Groups{{0}, {1, 3}, {2}}));
  EXPECT_EQ(groups(*part.at(Level::network_switch)), (Groups{{0, 2}, {1, 3}}));
}

TEST(Level, HasTheNameThatUsersWrite) {
  EXPECT_EQ(level_named("switches"), Level::network_switch);
  EXPECT_EQ(level_named("cores"), Level::core);
  EXPECT_FALSE(level_named("node"));
}

}  // namespace
}  // namespace unisono
