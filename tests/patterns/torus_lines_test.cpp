// A torus, whole or without some planes, that lacks some hosts: all trees if it is one, whichever
// it is; most of them if they are more; and never a link with two messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "tests/patterns/torus_forests.h"

namespace unisono {
namespace {

TorusMembers without(const TorusMembers& members, int missing) {
  std::vector<int> hosts(members.hosts().begin(), members.hosts().end());
  hosts.erase(hosts.begin() + missing);
  return {members.shared_torus(), std::move(hosts)};
}

TorusMembers some_hosts(const std::shared_ptr<const Torus>& torus, int percent,
                        std::mt19937& random) {
  std::vector<int> hosts(static_cast<std::size_t>(torus->hosts()));
  std::iota(hosts.begin(), hosts.end(), 0);
  for (std::size_t i = 0; i + 1 < hosts.size(); ++i)
    std::swap(
        hosts[i],
        hosts[i + static_cast<std::size_t>(any_of(static_cast<int>(hosts.size() - i), random))]);
  hosts.resize(std::max<std::size_t>(1, hosts.size() * static_cast<std::size_t>(percent) / 100));
  return {torus, std::move(hosts)};
}

/// How many; checks them.
int line_trees_of(const TorusMembers& members, int root, TreesFor use, Routing routing) {
  const auto made = line_trees(members, root, use, routing);
  if (!made) return 0;
  expect_contention_free(members, *made, root, routing, use);
  return static_cast<int>(std::max(made->out.size(), made->in.size()));
}

const std::vector<std::vector<int>> kTori = {{4, 4},    {5, 3},      {3, 3},    {7, 6},
                                             {3, 3, 3}, {4, 4, 4},   {5, 4, 3}, {6, 5, 4},
                                             {5, 1, 5}, {3, 3, 3, 3}};

TEST(LineTrees, OneMissingHostCostsNoTreeWhicheverItIs) {
  for (const auto& shape : kTori) {
    const auto whole = all_hosts(std::make_shared<const Torus>(shape));
    const auto rings = std::count_if(shape.begin(), shape.end(), [](int n) { return n > 1; });
    for (int missing = 0; missing < whole.size(); ++missing) {
      const auto members = without(whole, missing);
      for (int root = 0; root < members.size(); root += 1 + members.size() / 6) {
        const auto trees = [&](TreesFor use) {
          return line_trees_of(members, root, use, Routing::directed);
        };
        ASSERT_EQ(trees(TreesFor::broadcast), 2 * rings);
        ASSERT_EQ(trees(TreesFor::reduction), 2 * rings);
        ASSERT_EQ(trees(TreesFor::both), rings);
      }
    }
    if (HasFatalFailure()) return;
  }
}

TEST(LineTrees, OneMissingHostWhereMessagesGoTheShorterWay) {
  for (const auto& [shape, trees, both] : {std::tuple<std::vector<int>, int, int>{{5, 6}, 4, 2},
                                           {{5, 5, 7}, 6, 3},
                                           {{4, 4}, 2, 0},
                                           {{4, 4, 4}, 4, 0}}) {
    const auto whole = all_hosts(std::make_shared<const Torus>(shape));
    for (int missing = 0; missing < whole.size(); ++missing) {
      const auto members = without(whole, missing);
      for (int root = 0; root < members.size(); root += 1 + members.size() / 4) {
        ASSERT_GE(line_trees_of(members, root, TreesFor::broadcast, Routing::minimal), trees);
        ASSERT_GE(line_trees_of(members, root, TreesFor::reduction, Routing::minimal), trees);
        ASSERT_GE(line_trees_of(members, root, TreesFor::both, Routing::minimal), both);
      }
    }
    if (HasFatalFailure()) return;
  }
}

TEST(LineTrees, PlanesMayBeMissingAsWell) {
  std::mt19937 random(6);
  for (int trial = 0; trial < 400; ++trial) {
    const auto torus =
        std::make_shared<const Torus>(trial % 2 == 0 ? std::vector{6, 5, 8} : std::vector{7, 9});
    const auto coordinates = some_coordinates(*torus, random);
    // At least three in each dimension, so that the hosts that are left show all of them.
    if (std::any_of(coordinates.begin(), coordinates.end(),
                    [](const auto& at) { return at.size() < 3; }))
      continue;
    const auto whole = all_combinations(torus, coordinates);
    const auto members = without(whole, any_of(whole.size(), random));
    const int root = any_of(members.size(), random);
    for (const Routing routing : {Routing::directed, Routing::source})
      ASSERT_EQ(line_trees_of(members, root, TreesFor::broadcast, routing),
                2 * torus->dimensions());
    line_trees_of(members, root, TreesFor::broadcast, Routing::minimal);
    if (HasFatalFailure()) return;
  }
}

TEST(LineTrees, AnyMembersOnAnyTorusOrMesh) {
  std::mt19937 random(77);
  const std::vector<std::vector<int>> shapes = {{6, 6}, {4, 4, 4},    {6, 5, 4}, {8, 4, 2},
                                                {9},    {2, 2, 2, 2}, {5, 2, 3}, {3, 3, 3, 3}};
  for (int trial = 0; trial < 2400; ++trial) {
    const auto& shape = shapes[static_cast<std::size_t>(trial) % shapes.size()];
    std::vector<bool> wraps;
    for (std::size_t d = 0; d < shape.size(); ++d) wraps.push_back(any_of(4, random) != 0);
    const auto members =
        some_hosts(std::make_shared<const Torus>(shape, wraps), 20 + any_of(80, random), random);
    const int root = any_of(members.size(), random);
    for (const Routing routing : {Routing::minimal, Routing::directed})
      for (const TreesFor use : {TreesFor::broadcast, TreesFor::reduction, TreesFor::both})
        line_trees_of(members, root, use, routing);
    if (HasFatalFailure()) return;
  }
}

TEST(LineTrees, MostTreesAreKept) {
  std::mt19937 random(1024);
  const auto torus = std::make_shared<const Torus>(std::vector{8, 8, 16});
  for (const auto& [percent, routing, least, mean] : {std::tuple{90, Routing::directed, 5, 5.8},
                                                      {90, Routing::minimal, 4, 5.0},
                                                      {75, Routing::directed, 4, 5.4},
                                                      {50, Routing::directed, 2, 3.5},
                                                      {50, Routing::minimal, 0, 2.4}}) {
    int sum = 0;
    for (int trial = 0; trial < 20; ++trial) {
      const auto members = some_hosts(torus, percent, random);
      const int trees =
          line_trees_of(members, any_of(members.size(), random), TreesFor::broadcast, routing);
      EXPECT_GE(trees, least);
      sum += trees;
    }
    EXPECT_GE(sum / 20.0, mean) << percent;
  }
}

TEST(LineTrees, NothingForFewMembersOrWhereTheNetworkDecides) {
  std::mt19937 random(3);
  const auto torus = std::make_shared<const Torus>(std::vector{8, 8, 16});
  const auto few = some_hosts(torus, 10, random), most = some_hosts(torus, 99, random);
  EXPECT_FALSE(line_trees(few, 0, TreesFor::broadcast, Routing::directed));
  EXPECT_TRUE(line_trees(most, 0, TreesFor::broadcast, Routing::directed));
  EXPECT_FALSE(line_trees(most, 0, TreesFor::broadcast, Routing::adaptive));
}

}  // namespace
}  // namespace unisono
