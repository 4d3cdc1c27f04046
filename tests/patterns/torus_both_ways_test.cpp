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
  for (const auto& shape : {std::vector{2, 3, 4}, {4, 2, 3}, {3, 4, 2}, {3, 3, 3}, {2, 5, 3}, {4, 4, 2}}) {
    const auto torus =
        std::make_shared<const Torus>(shape, std::vector<bool>{false, false, false});
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
      EXPECT_LE(use_of(members, made->all()).depth, 3 * length / 2) << text_of(members.torus(), root);
    }
  }
}

TorusMembers without_host(const TorusMembers& members, int missing) {
  std::vector<int> hosts(members.hosts().begin(), members.hosts().end());
  hosts.erase(hosts.begin() + missing);
  return {members.shared_torus(), std::move(hosts)};
}

TEST(BothWays, OneMissingHostCostsNoTree) {
  for (const auto& shape : {std::vector{3, 3}, {4, 4}, {5, 3}, {7, 6}, {3, 3, 3}, {4, 4, 4},
                            {5, 4, 3}, {5, 1, 5}, {3, 3, 3, 3}}) {
    const auto whole = all_hosts(std::make_shared<const Torus>(shape));
    const auto rings = std::count_if(shape.begin(), shape.end(), [](int n) { return n > 1; });
    for (int missing = 0; missing < whole.size(); ++missing) {
      const auto members = without_host(whole, missing);
      for (int root = 0; root < members.size(); root += 1 + members.size() / 6)
        for (const Routing routing : {Routing::minimal, Routing::adaptive, Routing::directed}) {
          ASSERT_EQ(both_trees_of(members, root, missing_host_trees, routing), rings)
              << whole.torus().text(whole.host(missing)) << " " << text_of(whole.torus(), root);
          const auto made = missing_host_trees(members, root, TreesFor::both, routing);
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
        both_trees_of(members, root, missing_host_trees, routing);
    }
    int rings = 0;
    for (int d = 0; d < 3; ++d) rings += torus->wraps(d) && torus->size(d) > 2 ? 1 : 0;
    // A ring beside two paths, or any other box with rings, keeps what it has.
    const auto members = without_host(all_hosts(torus), any_of(torus->hosts(), random));
    if (rings > 0) {
      ASSERT_EQ(both_trees_of(members, 0, missing_host_trees, Routing::minimal), counted(*torus));
    }
  });
}

TEST(BothWays, TheBestOfAllTakesThem) {
  const auto whole = all_hosts(std::make_shared<const Torus>(std::vector{4, 4, 4}));
  const auto box = all_hosts(std::make_shared<const Torus>(std::vector{4, 4, 8}, std::vector<bool>{false, false, false}));
  const auto best = [](const TorusMembers& members, int root) {
    const auto made = make_trees(TreeKind::best, members, root, TreesFor::both, Routing::minimal);
    return std::pair{made->out.size(), use_of(members, made->all()).most};
  };
  for (const int root : {0, 17, 62}) {
    EXPECT_EQ(best(without_host(whole, 5), root), (std::pair<std::size_t, int>{3, 1}));
    EXPECT_EQ(best(box, root), (std::pair<std::size_t, int>{2, 1}));
  }
}

TEST(BothWays, MissingHostTreesAreForThatAlone) {
  const auto whole = all_hosts(std::make_shared<const Torus>(std::vector{4, 4, 4}));
  const auto one = without_host(whole, 5), two = without_host(one, 5);
  for (const Routing routing : kRoutings) {
    EXPECT_TRUE(missing_host_trees(one, 0, TreesFor::both, routing));
    EXPECT_FALSE(missing_host_trees(one, 0, TreesFor::broadcast, routing));
    EXPECT_FALSE(missing_host_trees(whole, 0, TreesFor::both, routing));
    EXPECT_FALSE(missing_host_trees(two, 0, TreesFor::both, routing));
  }
}

}  // namespace
}  // namespace unisono
