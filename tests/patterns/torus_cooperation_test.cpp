// Trees that groups over one torus share: whatever the shape, the number of groups and the roots,
// no link carries more trees than are said to share it, and each member is reached.
#include "patterns/torus_cooperation.h"

#include <algorithm>
#include <map>
#include <random>

#include "tests/patterns/torus_forests.h"

namespace unisono {
namespace {

struct Shape {
  std::vector<int> sizes;
  std::vector<bool> wraps;  // none: all do
  int trees;                // there are from one root
};
const Shape kNetworks[] = {
    {{2}, {}, 1},
    {{9}, {}, 2},
    {{4, 4}, {}, 4},
    {{3, 3}, {}, 4},
    {{5, 7}, {}, 4},
    {{2, 5}, {}, 3},
    {{4, 4}, {false, false}, 2},
    {{5, 4}, {true, false}, 3},
    {{4, 4, 4}, {}, 6},
    {{5, 3, 4}, {}, 6},
    {{2, 2, 2}, {}, 3},
    {{3, 3, 3}, {false, false, false}, 3},
    {{8, 4, 2}, {}, 5},
    {{3, 3, 3, 3}, {}, 8},
};

/// Some hosts, or all, dealt to groups, with any of each as its root.
std::vector<TorusGroup> some_groups(int hosts, int groups, std::mt19937& random) {
  std::vector<int> order(static_cast<std::size_t>(hosts));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  const int used = groups + any_of(hosts - groups + 1, random);
  std::vector<TorusGroup> found(static_cast<std::size_t>(groups));
  for (int i = 0; i < used; ++i)
    found[static_cast<std::size_t>(i % groups)].hosts.push_back(order[static_cast<std::size_t>(i)]);
  for (TorusGroup& group : found)
    group.root =
        group.hosts[static_cast<std::size_t>(any_of(static_cast<int>(group.hosts.size()), random))];
  return found;
}

/// Counted apart from what is tested. "": as it should be.
std::string flaw_in(const Torus& torus, const Cooperation& made,
                    const std::vector<TorusGroup>& groups, bool both) {
  std::map<std::pair<int, int>, int> load;
  std::vector<int> of_group(groups.size());
  int most = 1, depth = 0;
  for (const GroupTree& tree : made.trees) {
    const TorusGroup& group = groups[static_cast<std::size_t>(tree.group)];
    ++of_group[static_cast<std::size_t>(tree.group)];
    if (tree.root != group.root) return "a tree of another root";
    for (const int member : group.hosts) {
      int at = member, hops = 0;
      for (; at >= 0 && at != tree.root && hops < torus.hosts(); ++hops)
        at = tree.parent[static_cast<std::size_t>(at)];
      if (at != tree.root) return torus.text(member) + " has no way to its root";
      depth = std::max(depth, hops);
    }
    for (int host = 0; host < torus.hosts(); ++host) {
      const int parent = tree.parent[static_cast<std::size_t>(host)];
      if (tree.has(host) != (parent >= 0 || host == tree.root))
        return torus.text(host) + " is in the tree, and is not";
      if (parent < 0) continue;
      if (torus.distance(parent, host) != 1) return "a message that is not to a neighbour";
      // A tree that is used both ways takes both of a pair of links.
      const auto way = both ? std::pair(std::min(parent, host), std::max(parent, host))
                            : std::pair(parent, host);
      most = std::max(most, ++load[way]);
      const bool is_member =
          std::find(group.hosts.begin(), group.hosts.end(), host) != group.hosts.end();
      if (tree.children(host).empty() && !is_member) return torus.text(host) + " serves nobody";
    }
  }
  if (most > made.sharing) return std::to_string(most) + " trees share a link";
  if (depth != made.depth) return "it is " + std::to_string(depth) + " deep";
  for (const int trees : of_group)
    if (trees != made.trees_of_each) return "a group has " + std::to_string(trees) + " trees";
  return "";
}

TEST(Cooperation, NoLinkCarriesMoreTreesThanSaid) {
  std::mt19937 random(1);
  for (const Shape& shape : kNetworks)
    for (int run = 0; run < 120; ++run) {
      const auto torus = std::make_shared<const Torus>(shape.sizes, shape.wraps);
      const int count = 1 + any_of(std::min(torus->hosts(), 20), random);
      const auto groups = some_groups(torus->hosts(), count, random);
      const auto made = cooperating_trees(torus, groups, TreesFor::broadcast);
      ASSERT_TRUE(made);
      ASSERT_EQ(flaw_in(*torus, *made, groups, false), "") << count << " groups";
      // All links are dealt out, but for what is left of the last layer.
      ASSERT_GE(made->rate() * count, shape.trees * (count <= 8 * shape.trees ? 0.8 : 0.5))
          << count << " groups, " << made->trees_of_each << " trees each, " << made->sharing;
      if (shape.trees % count == 0) {
        ASSERT_EQ(made->sharing, 1);
        ASSERT_EQ(made->trees_of_each, shape.trees / count);
      }
    }
}

TEST(Cooperation, BothWaysAtOnceNoLinkCarriesMore) {
  std::mt19937 random(2);
  for (const Shape& shape : kNetworks)
    for (int run = 0; run < 60; ++run) {
      const auto torus = std::make_shared<const Torus>(shape.sizes, shape.wraps);
      const int count = 1 + any_of(std::min(torus->hosts(), 12), random);
      const auto groups = some_groups(torus->hosts(), count, random);
      const auto made = cooperating_trees(torus, groups, TreesFor::both);
      ASSERT_TRUE(made);
      ASSERT_EQ(flaw_in(*torus, *made, groups, true), "") << count << " groups";
    }
}

TEST(Cooperation, TheTestFindsWhatMeets) {
  const auto torus = std::make_shared<const Torus>(std::vector{4, 4});
  std::mt19937 random(3);
  const auto groups = some_groups(16, 4, random);
  Cooperation made = *cooperating_trees(torus, groups, TreesFor::broadcast);
  ASSERT_EQ(made.sharing, 1);
  // Two groups' trees from their own roots, as each would make them alone, meet.
  for (GroupTree& tree : made.trees) {
    const TorusGroup& group = groups[static_cast<std::size_t>(tree.group)];
    tree.parent = box_trees(all_hosts(torus), group.root, TreesFor::broadcast, Routing::minimal)
                      ->out[0]
                      .parent;
    tree.depth.assign(16, 0);
  }
  EXPECT_NE(flaw_in(*torus, made, groups, false), "");
}

TEST(Cooperation, OneGroupOfAllHasTheMulticolourTrees) {
  const auto torus = std::make_shared<const Torus>(std::vector{3, 4, 5});
  const auto all = all_hosts(torus);
  const TorusGroup group{{all.hosts().begin(), all.hosts().end()}, 7};
  const auto made = cooperating_trees(torus, std::array{group}, TreesFor::broadcast);
  const auto trees = multicolour_trees(all, 7, TreesFor::broadcast, Routing::minimal);
  ASSERT_EQ(made->trees.size(), 6u);
  for (std::size_t t = 0; t < 6; ++t) EXPECT_EQ(made->trees[t].parent, trees->out[t].parent);
}

TEST(Cooperation, IsTheSameOnEveryRank) {
  const auto torus = std::make_shared<const Torus>(std::vector{8, 8});
  std::vector<TorusGroup> groups(3);
  for (int host = 0; host < 64; ++host)
    groups[static_cast<std::size_t>(host % 3)].hosts.push_back(host);
  for (TorusGroup& group : groups) group.root = group.hosts[5];
  const auto once = cooperating_trees(torus, groups, TreesFor::broadcast);
  const auto again = cooperating_trees(torus, groups, TreesFor::broadcast);
  for (std::size_t t = 0; t < once->trees.size(); ++t)
    EXPECT_EQ(once->trees[t].parent, again->trees[t].parent);
  EXPECT_EQ(once->trees_of_each, 4) << "in three layers of four trees";
  EXPECT_EQ(once->sharing, 3);
}

TEST(Cooperation, TreesOfTheirOwnMeetInTheMiddle) {
  // A ring of 6, whose routes go upwards from 0 to 2 and from 1 to 3: both over the link 1 to 2.
  const auto torus = std::make_shared<const Torus>(std::vector{6});
  const TorusMembers even(torus, {0, 2}), odd(torus, {1, 3});
  TorusTree tree;
  tree.parent = {-1, 0};
  const std::array members{even, odd};
  const std::array trees{TorusTrees{{tree}, {}}, TorusTrees{{tree}, {}}};
  EXPECT_DOUBLE_EQ(rate_apart(members, trees), 0.5);
  EXPECT_DOUBLE_EQ(rate_apart(std::span(members).first(1), std::span(trees).first(1)), 1);
}

TEST(Cooperation, OneHostHasNoTrees) {
  const auto torus = std::make_shared<const Torus>(std::vector{1});
  EXPECT_FALSE(cooperating_trees(torus, std::array{TorusGroup{{0}, 0}}, TreesFor::broadcast));
}

}  // namespace
}  // namespace unisono
