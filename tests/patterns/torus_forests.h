// What the tests of constructions on a torus share: members, and what must hold of their forests.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "patterns/torus_trees.h"

namespace unisono {

inline constexpr Routing kRoutings[] = {Routing::minimal, Routing::directed, Routing::source,
                                        Routing::adaptive};

inline int any_of(int count, std::mt19937& random) {
  return std::uniform_int_distribution<int>(0, count - 1)(random);
}

inline TorusMembers all_hosts(const std::shared_ptr<const Torus>& torus) {
  std::vector<int> hosts(static_cast<std::size_t>(torus->hosts()));
  std::iota(hosts.begin(), hosts.end(), 0);
  return {torus, std::move(hosts)};
}

/// By dimension, one coordinate or more, ascending.
inline std::vector<std::vector<int>> some_coordinates(const Torus& torus, std::mt19937& random) {
  std::vector<std::vector<int>> some;
  for (int d = 0; d < torus.dimensions(); ++d) {
    const int least = any_of(torus.size(d), random), percent = 20 + any_of(81, random);
    some.emplace_back();
    for (int c = 0; c < torus.size(d); ++c)
      if (c == least || any_of(100, random) < percent) some.back().push_back(c);
  }
  return some;
}

inline TorusMembers all_combinations(const std::shared_ptr<const Torus>& torus,
                                     const std::vector<std::vector<int>>& coordinates) {
  std::vector<int> hosts = {0};
  for (int d = 0; d < torus->dimensions(); ++d) {
    const std::vector<int> below = std::move(hosts);
    hosts.clear();
    for (const int c : coordinates[static_cast<std::size_t>(d)])
      for (const int host : below) hosts.push_back(torus->moved(host, d, c));
  }
  return {torus, std::move(hosts)};
}

/// Why messages would share links, or nothing. Counts by itself, as the network would route them:
/// nobody can ask for a way with minimal routing, and with adaptive routing only a hop to a
/// neighbour has a known one.
inline std::string contention_of(const TorusMembers& members, const TorusTrees& trees,
                                 Routing routing, TreesFor use) {
  const Torus& torus = members.torus();
  if (trees.out.empty() != (use == TreesFor::reduction))
    return "no trees out, or trees out unasked";
  if (trees.in.empty() != (use == TreesFor::broadcast)) return "no trees in, or trees in unasked";
  std::vector<int> load(static_cast<std::size_t>(torus.links()));
  std::string found;
  for (const auto* forest : {&trees.out, &trees.in})
    for (const TorusTree& tree : *forest) {
      if ((tree.flow == Flow::out) != (forest == &trees.out)) return "a tree of the other flow";
      if (!tree.route.empty() && routing != Routing::source) return "routes are named";
      for (int member = 0; member < members.size(); ++member) {
        const int parent = tree.parent[static_cast<std::size_t>(member)];
        if (parent < 0) continue;
        int from = members.host(parent), to = members.host(member);
        if (tree.flow == Flow::in) std::swap(from, to);
        const auto count = [&](LinkId link) {
          if (++load[static_cast<std::size_t>(link)] > 1)
            found = torus.text_of_link(link) + " has two messages";
        };
        if (routing == Routing::source)
          for_links(members, tree, member, count);
        else
          torus.route(from, to, routing == Routing::directed ? tree.way_of(member) : Way{}, count);
        if (routing == Routing::adaptive && torus.distance(from, to) > 1)
          return "the network may send " + torus.text(from) + " to " + torus.text(to) + " anyhow";
      }
    }
  return found;
}

inline void expect_contention_free(const TorusMembers& members, const TorusTrees& trees, int root,
                                   Routing routing, TreesFor use) {
  ASSERT_EQ(contention_of(members, trees, routing, use), "");
  TorusForest all = trees.out;
  all.insert(all.end(), trees.in.begin(), trees.in.end());
  ASSERT_EQ(flaw_of(members, all, root).value_or(""), "");
  ASSERT_LE(use_of(members, all).most, 1);
}

/// Depth by the lengths of the smallest grid that holds the members: each is gone through twice at
/// most.
inline void expect_shallow(const TorusMembers& members, const TorusTrees& trees) {
  const Torus& torus = members.torus();
  int limit = 0;
  for (int d = 0; d < torus.dimensions(); ++d) {
    std::vector<bool> has(static_cast<std::size_t>(torus.size(d)));
    int length = 0;
    for (const int host : members.hosts()) {
      auto at = has[static_cast<std::size_t>(torus.coordinate(host, d))];
      length += at ? 0 : 1;
      at = true;
    }
    limit += length > 1 ? 2 * length : 0;
  }
  ASSERT_LE(use_of(members, trees.out).depth, limit);
  ASSERT_LE(use_of(members, trees.in).depth, limit);
}

}  // namespace unisono
