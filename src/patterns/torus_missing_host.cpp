// Members that are a grid but for one host, for both ways at once: the grid's trees from the very
// host that is missing. Each has one hop there, since the host has as many upwards as there are
// trees, so that the others are a spanning tree without it; turned, these hang from the root. As
// no two share a hop in either direction, they may be turned at will.
//
// So one missing host costs none of k trees each way on a torus of k rings, whatever the routing:
// where the grid has no gaps, all messages are between neighbours. No forest has more: 2k trees
// have all the links that are left. Depth at most twice that of the grid's trees.
//
// Cost: trees * members steps. Source: our own; Mader's and Lovasz's splitting off at a vertex says
// that there are as many.
#include <algorithm>

#include "patterns/torus_colours.h"

namespace unisono {

namespace {

bool is_leaf(const GridTree& tree, int root) {
  return std::count(tree.parent.begin(), tree.parent.end(), root) == 1;
}

/// Hangs the tree from `root`; its old one is no longer in it.
void turn_to(GridTree& tree, int old_root, int root) {
  int parent = -1, sign = 0;
  for (int cell = root; cell != old_root;) {
    const auto c = static_cast<std::size_t>(cell);
    const int above = tree.parent[c], above_sign = tree.sign[c];
    tree.hang(cell, parent, -sign);
    parent = cell;
    sign = above_sign;
    cell = above;
  }
}

}  // namespace

std::optional<TorusTrees> missing_host_trees(const TorusMembers& members, int root, TreesFor use,
                                             Routing routing) {
  if (use != TreesFor::both || members.size() < 2) return std::nullopt;
  const auto grid = TorusGrid::around(
      members, routing == Routing::adaptive ? Hops::confined : Hops::shortest);
  if (!grid || grid->cells() != members.size() + 1) return std::nullopt;
  int missing = 0;
  while (members.member(grid->host(missing)) >= 0) ++missing;
  std::vector<GridTree> trees;
  for (GridTree& tree : grid_trees(*grid, missing, true)) {
    if (!is_leaf(tree, missing)) continue;
    turn_to(tree, missing, grid->cell(members.host(root)));
    trees.push_back(std::move(tree));
  }
  if (trees.empty()) return std::nullopt;
  return torus_trees_of(members, *grid, trees, use, false);
}

}  // namespace unisono
