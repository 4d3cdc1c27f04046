// The snake: a chain through the members, row by row, each row against the one before (in more
// dimensions: plane by plane, likewise). From a root in its middle it goes both ways.
//
// Rows lie in the dimension that is routed last, from the root, or first, towards it. So its
// messages share no link on meshes, whatever the members and the root. On tori they may, where the
// shortest way along a row goes round its end. Rings of 8, members (0,5), the root, and (1,0),
// (1,5), (1,7): the message from (0,5) to (1,7) goes up past (1,5) and (1,6), and so does that from
// (1,5) to (1,0). There it is for comparison only. Out and in at once meet nearly everywhere.
//
// Trees: 1. Depth: h - 1, or the longer part from the root. O(h (k + log h)).
//
// Source: Mittal et al. 2012, "Collective algorithms for sub-communicators"; how exactly it goes is
// a reconstruction.
#include <algorithm>

#include "patterns/torus_groups.h"
#include "patterns/torus_trees.h"

namespace unisono {

namespace {

struct Snake {
  const TorusMembers& members;
  std::vector<int> order;  // of dimensions, that of the rows last
  std::vector<bool> backwards = std::vector<bool>(order.size());
  std::vector<int> chain = {};

  void append(std::span<const int> group, std::size_t level) {
    if (level == order.size()) {
      chain.push_back(group.front());
      return;
    }
    auto groups = groups_of(members, group, order[level]);
    if (backwards[level]) std::reverse(groups.begin(), groups.end());
    for (const auto& part : groups) append(part, level + 1);
    backwards[level] = !backwards[level];
  }
};

TorusTree snake(const TorusMembers& members, int root, Flow flow, bool last_dimension_first) {
  std::vector<int> order;
  const int dimensions = members.torus().dimensions();
  const bool rows_last = (flow == Flow::out) != last_dimension_first;
  for (int d = 0; d < dimensions; ++d) order.push_back(rows_last ? d : dimensions - 1 - d);
  Snake snake{members, order};
  snake.append(sorted_members(members, order), 0);
  TorusTree tree;
  tree.flow = flow;
  tree.way.last_dimension_first = last_dimension_first;
  tree.parent.assign(snake.chain.size(), -1);
  const auto middle = std::find(snake.chain.begin(), snake.chain.end(), root);
  for (auto at = middle; at + 1 != snake.chain.end(); ++at)
    tree.parent[static_cast<std::size_t>(at[1])] = *at;
  for (auto at = middle; at != snake.chain.begin(); --at)
    tree.parent[static_cast<std::size_t>(at[-1])] = *at;
  return tree;
}

}  // namespace

std::optional<TorusTrees> snake_trees(const TorusMembers& members, int root, TreesFor use,
                                      Routing routing) {
  const bool chosen = routing == Routing::directed || routing == Routing::source;
  TorusTrees trees;
  if (use != TreesFor::reduction) trees.out.push_back(snake(members, root, Flow::out, false));
  if (use != TreesFor::broadcast)
    trees.in.push_back(snake(members, root, Flow::in, chosen && use == TreesFor::both));
  if (routing == Routing::adaptive && !only_neighbours(members, trees)) return std::nullopt;
  return trees;
}

}  // namespace unisono
