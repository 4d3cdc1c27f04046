// As many trees out as in, for an Allreduce: on boxes as many as there are links for, whatever is
// cut; and one missing host costs none.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/patterns/torus_forests.h"
#include "tests/thorough.h"

namespace unisono {
namespace {

/// As many trees each way as all links together are enough for.
int counted(const Torus& torus) {
  int links = 0;
  for (LinkId link = 0; link < torus.links(); ++link) links += torus.exists(link) ? 1 : 0;
  return links / (2 * (torus.hosts() - 1));
}

/// Calls use(torus) for tori, meshes, and what is between, of all sizes from 2 to `most`.
template <class Use>
void for_shapes(int dimensions, int most, Use&& use) {
  std::vector<int> sizes(static_cast<std::size_t>(dimensions), 2);
  for (;;) {
    for (unsigned wraps = 0; wraps < 1U << dimensions; ++wraps) {
      std::vector<bool> asked;
      for (int d = 0; d < dimensions; ++d) asked.push_back((wraps >> d & 1U) != 0);
      use(std::make_shared<const Torus>(sizes, asked));
      if (testing::Test::HasFatalFailure()) return;
    }
    std::size_t d = 0;
    while (d < sizes.size() && sizes[d] == most) sizes[d++] = 2;
    if (d == sizes.size()) return;
    ++sizes[d];
  }
}

std::string text_of(const Torus& torus, int root) {
  std::string text;
  for (int d = 0; d < torus.dimensions(); ++d)
    text += std::to_string(torus.size(d)) + (torus.wraps(d) ? "r " : "p ");
  return text + "from " + torus.text(root);
}

/// How many each way; checks them.
int both_trees_of(const TorusMembers& members, int root, MakeTrees make, Routing routing) {
  const auto made = make(members, root, TreesFor::both, routing);
  if (!made) return 0;
  EXPECT_EQ(contention_of(members, *made, routing, TreesFor::both), "");
  EXPECT_EQ(flaw_of(members, made->all(), root).value_or(""), "");
  EXPECT_EQ(made->out.size(), made->in.size());
  return static_cast<int>(made->out.size());
}

TEST(BothWays, BoxesHaveAllTreesThatTheirLinksAreEnoughFor) {
  for (const int dimensions : {1, 2, 3})
    for_shapes(dimensions, is_thorough() ? 7 : 5, [](const std::shared_ptr<const Torus>& torus) {
      const auto members = all_hosts(torus);
      for (int root = 0; root < members.size(); root += 1 + members.size() / 5)
        for (const Routing routing : {Routing::minimal, Routing::adaptive})
          ASSERT_EQ(both_trees_of(members, root, box_trees, routing), counted(*torus))
              << text_of(*torus, root);
    });
}

// One of 2 x 3 x 4 and those that have hardly more: no link may be wasted.
TEST(BothWays, WhateverTheRootWhereHardlyALinkIsLeft) {
  for (const auto& shape :
       {std::vector{2, 3, 4}, {4, 2, 3}, {3, 4, 2}, {3, 3, 3}, {2, 5, 3}, {4, 4, 2}}) {
    const auto torus = std::make_shared<const Torus>(shape, std::vector<bool>{false, false, false});
    for (int root = 0; root < torus->hosts(); ++root)
      ASSERT_EQ(both_trees_of(all_hosts(torus), root, box_trees, Routing::minimal), 2)
          << text_of(*torus, root);
  }
}

TEST(BothWays, TwoPathsAreWorthATreeInMoreDimensions) {
  for (const auto& [shape, rings, trees] :
       {std::tuple<std::vector<int>, std::size_t, int>{{3, 4, 2, 5}, 2, 3},
        {{3, 3, 2, 2}, 2, 3},
        {{3, 3, 3, 4, 5}, 3, 4},
        {{4, 3, 4, 3, 4}, 1, 3},
        {{4, 4, 4, 4, 4}, 0, 3},
        {{4, 4, 4, 4}, 0, 2},
        {{2, 2, 2, 2}, 0, 1}}) {
    std::vector<bool> wraps(shape.size());
    std::fill_n(wraps.begin(), rings, true);
    const auto torus = std::make_shared<const Torus>(shape, wraps);
    for (int root = 0; root < torus->hosts(); root += 1 + torus->hosts() / 7)
      ASSERT_EQ(both_trees_of(all_hosts(torus), root, box_trees, Routing::minimal), trees)
          << text_of(*torus, root);
  }
}

TEST(BothWays, LargeBoxesAreNotMuchDeeperThanTheyAreLong) {
  for (const auto& [shape, wraps] :
       {std::pair<std::vector<int>, std::vector<bool>>{{16, 16, 16}, {false, false, false}},
        {{16, 16, 16}, {true, false, false}},
        {{8, 4, 8}, {true, false, false}},
        {{32, 32, 64}, {false, false, false}}}) {
    const auto members = all_hosts(std::make_shared<const Torus>(shape, wraps));
    const int length = std::accumulate(shape.begin(), shape.end(), 0);
    for (const int root : {0, members.size() / 2 + members.size() / 3, members.size() - 1}) {
      ASSERT_EQ(both_trees_of(members, root, box_trees, Routing::minimal), 2);
      const auto made = box_trees(members, root, TreesFor::both, Routing::minimal);
      EXPECT_LE(use_of(members, made->all()).depth, 3 * length / 2)
          << text_of(members.torus(), root);
    }
  }
}

TEST(BothWays, HalfALinkMoreBesideOnePath) {
  for (const int dimensions : {1, 2, 3, 4})
    for_shapes(dimensions, dimensions == 4 ? 3 : 5, [](const std::shared_ptr<const Torus>& torus) {
      const auto members = all_hosts(torus);
      int rings = 0;
      for (int d = 0; d < torus->dimensions(); ++d)
        rings += torus->wraps(d) && torus->size(d) > 2 ? 1 : 0;
      const bool one_path = rings > 0 && rings + 1 == torus->dimensions();
      for (int root = 0; root < members.size(); root += 1 + members.size() / 5) {
        const auto made = half_box_trees(members, root, TreesFor::both, Routing::adaptive);
        ASSERT_EQ(made.has_value(), one_path) << text_of(*torus, root);
        if (!made) break;
        ASSERT_EQ(std::ssize(made->out), 2 * rings + 1);
        ASSERT_EQ(std::ssize(made->in), 2 * rings + 1);
        ASSERT_EQ(flaw_of(members, made->all(), root).value_or(""), "") << text_of(*torus, root);
        ASSERT_EQ(use_of(members, made->all()).most, 2) << text_of(*torus, root);
        ASSERT_TRUE(only_neighbours(members, *made));
        // No forest moves more: of R + 1 links, there are not enough.
        ASSERT_LE(counted(*torus), rings);
        expect_shallow(members, *made);
      }
    });
}

// With minimal routing, hops of members that are apart on a ring are a path's.
TEST(BothWays, HalfALinkMoreWherePlanesAreMissing) {
  std::mt19937 random(27);
  int found = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const auto torus =
        std::make_shared<const Torus>(trial % 2 == 0 ? std::vector{6, 5, 8} : std::vector{7, 9});
    const auto members = all_combinations(torus, some_coordinates(*torus, random));
    const int root = any_of(members.size(), random);
    const auto made = half_trees(members, root, TreesFor::both, Routing::minimal);
    if (!made) continue;
    ++found;
    ASSERT_EQ(flaw_of(members, made->all(), root).value_or(""), "");
    ASSERT_EQ(use_of(members, made->all()).most, 2);
    EXPECT_FALSE(half_trees(members, root, TreesFor::broadcast, Routing::minimal));
  }
  EXPECT_GE(found, 40);
}

TorusMembers without_host(const TorusMembers& members, int missing) {
  std::vector<int> hosts(members.hosts().begin(), members.hosts().end());
  hosts.erase(hosts.begin() + missing);
  return {members.shared_torus(), std::move(hosts)};
}

TEST(BothWays, OneMissingHostCostsNoTree) {
  for (const auto& shape : {std::vector{3, 3},
                            {4, 4},
                            {5, 3},
                            {7, 6},
                            {3, 3, 3},
                            {4, 4, 4},
                            {5, 4, 3},
                            {5, 1, 5},
                            {3, 3, 3, 3}}) {
    const auto whole = all_hosts(std::make_shared<const Torus>(shape));
    const auto rings = std::count_if(shape.begin(), shape.end(), [](int n) { return n > 1; });
    for (int missing = 0; missing < whole.size(); ++missing) {
      const auto members = without_host(whole, missing);
      for (int root = 0; root < members.size(); root += 1 + members.size() / 6)
        for (const Routing routing : {Routing::minimal, Routing::adaptive, Routing::directed}) {
          ASSERT_EQ(both_trees_of(members, root, mended_trees, routing), rings)
              << whole.torus().text(whole.host(missing)) << " " << text_of(whole.torus(), root);
          const auto made = mended_trees(members, root, TreesFor::both, routing);
          expect_shallow(members, *made);
        }
    }
    if (HasFatalFailure()) return;
  }
}

TEST(BothWays, OneMissingHostOfABoxOrOfATorusWithoutSomePlanes) {
  std::mt19937 random(26);
  for_shapes(3, 4, [&random](const std::shared_ptr<const Torus>& torus) {
    const auto coordinates = some_coordinates(*torus, random);
    for (const auto& whole : {all_hosts(torus), all_combinations(torus, coordinates)}) {
      if (whole.size() < 3) continue;
      const auto members = without_host(whole, any_of(whole.size(), random));
      const int root = any_of(members.size(), random);
      for (const Routing routing : {Routing::minimal, Routing::directed, Routing::adaptive})
        both_trees_of(members, root, mended_trees, routing);
    }
    int rings = 0;
    for (int d = 0; d < 3; ++d) rings += torus->wraps(d) && torus->size(d) > 2 ? 1 : 0;
    // A ring beside two paths, or any other box with rings, keeps what it has.
    const auto members = without_host(all_hosts(torus), any_of(torus->hosts(), random));
    if (rings > 0) {
      ASSERT_EQ(both_trees_of(members, 0, mended_trees, Routing::minimal), counted(*torus));
    }
  });
}

TEST(BothWays, TheBestOfAllTakesThem) {
  const auto whole = all_hosts(std::make_shared<const Torus>(std::vector{4, 4, 4}));
  const auto box = all_hosts(
      std::make_shared<const Torus>(std::vector{4, 4, 8}, std::vector<bool>{false, false, false}));
  const auto cut_once = all_hosts(
      std::make_shared<const Torus>(std::vector{4, 4, 8}, std::vector<bool>{true, true, false}));
  const auto best = [](const TorusMembers& members, int root) {
    const auto made = make_trees(TreeKind::best, members, root, TreesFor::both, Routing::minimal);
    return std::pair{made->out.size(), use_of(members, made->all()).most};
  };
  for (const int root : {0, 17, 62}) {
    EXPECT_EQ(best(without_host(whole, 5), root), (std::pair<std::size_t, int>{3, 1}));
    EXPECT_EQ(best(box, root), (std::pair<std::size_t, int>{2, 1}));
    EXPECT_EQ(best(cut_once, root), (std::pair<std::size_t, int>{5, 2}));
  }
}

TorusMembers without_some(const TorusMembers& members, int missing, std::mt19937& random) {
  std::vector<int> hosts(members.hosts().begin(), members.hosts().end());
  std::shuffle(hosts.begin(), hosts.end(), random);
  hosts.resize(hosts.size() - static_cast<std::size_t>(missing));
  return {members.shared_torus(), std::move(hosts)};
}

/// Links of the member that has fewest to others.
int fewest_links(const TorusMembers& members) {
  const Torus& torus = members.torus();
  int least = 2 * torus.dimensions();
  for (const int host : members.hosts()) {
    int links = 0;
    for (int d = 0; d < torus.dimensions(); ++d)
      for (const int sign : {1, -1}) {
        const int there = torus.neighbour(host, d, sign);
        links += there >= 0 && members.member(there) >= 0 ? 1 : 0;
      }
    least = std::min(least, links);
  }
  return least;
}

bool are_joined(const TorusMembers& members) {
  const Torus& torus = members.torus();
  std::vector<int> queue = {members.host(0)};
  std::vector<bool> seen(static_cast<std::size_t>(torus.hosts()));
  seen[static_cast<std::size_t>(queue[0])] = true;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (int d = 0; d < torus.dimensions(); ++d)
      for (const int sign : {1, -1}) {
        const int there = torus.neighbour(queue[i], d, sign);
        if (there < 0 || members.member(there) < 0 || seen[static_cast<std::size_t>(there)])
          continue;
        seen[static_cast<std::size_t>(there)] = true;
        queue.push_back(there);
      }
  return std::ssize(queue) == members.size();
}

TEST(BothWays, HolesInBoxesAreMended) {
  std::mt19937 random(28);
  for (const auto& [shape, wraps] :
       {std::pair<std::vector<int>, std::vector<bool>>{{4, 4, 8}, {false, false, false}},
        {{6, 5, 5}, {false, false, false}},
        {{4, 4, 8}, {true, false, false}},
        {{8, 8, 4}, {true, true, false}},
        {{6, 6, 6}, {true, true, true}}}) {
    const auto whole = all_hosts(std::make_shared<const Torus>(shape, wraps));
    for (int trial = 0; trial < (is_thorough() ? 60 : 8); ++trial) {
      const auto members = without_some(whole, 1 + trial % 4, random);
      if (!are_joined(members)) continue;
      const int trees =
          both_trees_of(members, any_of(members.size(), random), mended_trees, Routing::adaptive);
      ASSERT_GE(trees, 1);
      // With one link a host is an end of one tree.
      EXPECT_TRUE(trees >= 2 || fewest_links(members) < 2) << trial << text_of(whole.torus(), 0);
    }
  }
}

TEST(BothWays, MendedTreesAreForHolesAlone) {
  const auto whole = all_hosts(std::make_shared<const Torus>(std::vector{4, 4, 4}));
  const auto one = without_host(whole, 5), two = without_host(one, 5);
  std::mt19937 random(29);
  const auto half = without_some(whole, 32, random);
  for (const Routing routing : kRoutings) {
    EXPECT_EQ(both_trees_of(one, 0, mended_trees, routing), 3);
    EXPECT_EQ(both_trees_of(two, 0, mended_trees, routing), 2);
    EXPECT_FALSE(mended_trees(one, 0, TreesFor::broadcast, routing));
    EXPECT_FALSE(mended_trees(whole, 0, TreesFor::both, routing));
    EXPECT_FALSE(mended_trees(half, 0, TreesFor::both, routing));
  }
}

}  // namespace
}  // namespace unisono
