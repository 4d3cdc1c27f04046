// Tori and hosts of them that tests of trees look at, and what is true of every forest.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "patterns/torus_trees.h"

namespace unisono {

inline std::shared_ptr<const Torus> torus_of(std::vector<int> sizes, std::vector<bool> wraps = {}) {
  return std::make_shared<const Torus>(std::move(sizes), std::move(wraps));
}

/// One to four dimensions; of one and two hosts as well; meshes, and tori that are meshes in one.
inline std::vector<std::shared_ptr<const Torus>> small_tori() {
  return {torus_of({16}),
          torus_of({4, 4}),
          torus_of({5, 3}),
          torus_of({8, 8}),
          torus_of({7, 6}),
          torus_of({8, 5}, {false, true}),
          torus_of({5, 4}, {false, false}),
          torus_of({3, 3, 3}),
          torus_of({4, 4, 4}),
          torus_of({8, 4, 2}),
          torus_of({6, 5, 4}),
          torus_of({4, 3, 5}, {false, false, false}),
          torus_of({1, 6, 1, 5}),
          torus_of({3, 3, 3, 3}),
          torus_of({2, 2, 2, 2})};
}

inline TorusMembers random_members(std::shared_ptr<const Torus> torus, int count,
                                   std::mt19937& random) {
  std::vector<int> hosts(static_cast<std::size_t>(torus->hosts()));
  std::iota(hosts.begin(), hosts.end(), 0);
  std::shuffle(hosts.begin(), hosts.end(), random);
  hosts.resize(static_cast<std::size_t>(count));
  return TorusMembers(std::move(torus), std::move(hosts));
}

inline int random_number(int first, int last, std::mt19937& random) {
  return std::uniform_int_distribution<int>(first, last)(random);
}

inline TorusForest all_of(const TorusTrees& trees) {
  TorusForest all = trees.out;
  all.insert(all.end(), trees.in.begin(), trees.in.end());
  return all;
}

/// The sizes, the members' coordinates and the root: what it takes to see a failure again.
inline std::string text(const TorusMembers& members, int root) {
  const Torus& torus = members.torus();
  std::string written;
  for (int d = 0; d < torus.dimensions(); ++d)
    written += (d == 0 ? "" : "x") + std::to_string(torus.size(d)) + (torus.wraps(d) ? "" : "m");
  for (int i = 0; i < members.size(); ++i)
    written += (i == root ? " root" : " ") + torus.text(members.host(i));
  return written;
}

/// Spanning trees as asked for; and, with `apart`, no link carries two messages.
inline void expect_trees(const TorusMembers& members, int root, TreesFor use,
                         const std::optional<TorusTrees>& trees, bool apart) {
  ASSERT_TRUE(trees) << text(members, root);
  ASSERT_EQ(trees->out.empty(), use == TreesFor::reduction) << text(members, root);
  ASSERT_EQ(trees->in.empty(), use == TreesFor::broadcast) << text(members, root);
  for (const TorusTree& tree : trees->out) ASSERT_EQ(tree.flow, Flow::out);
  for (const TorusTree& tree : trees->in) ASSERT_EQ(tree.flow, Flow::in);
  const auto all = all_of(*trees);
  const auto flaw = flaw_of(members, all, root);
  ASSERT_FALSE(flaw) << *flaw << " of " << text(members, root);
  const LinkUse links = use_of(members, all);
  ASSERT_TRUE(!apart || links.most <= 1)
      << members.torus().text_of_link(links.busiest) << " of " << text(members, root);
}

inline constexpr TreesFor kAllUses[] = {TreesFor::broadcast, TreesFor::reduction, TreesFor::both};

}  // namespace unisono
