// Members that are a grid: all of a torus or mesh, one without some planes in any dimensions, or a
// box. Per dimension two trees where the grid closes to a ring, one where it is a path: as many as
// the farthest corner has links in the grid, so that no other trees between members can be more.
// A reduction uses the same trees reversed; both at once trees that share no hop in either
// direction out, and the same back in: of a ring's those upwards, of two paths one, see
// extend_by_two_paths.
//
// Where the sender may ask for a way round (directed), every dimension that wraps is a ring, planes
// missing or not; where messages go the shorter way (minimal), the ring must have no gap of half
// its length or more. Where the network decides (adaptive), only hops between neighbours have a
// known route.
//
// Cost: trees * members steps. Sources: Faraj et al. 2009 (rings); Mittal et al. 2012 (missing
// planes); paths: own, see extend_by_path.
#include "patterns/torus_colours.h"

namespace unisono {

namespace {

TorusTrees trees_of(const TorusMembers& members, const TorusGrid& grid, int root, TreesFor use,
                    bool forced) {
  const auto trees = grid_trees(grid, grid.cell(members.host(root)), use == TreesFor::both);
  return torus_trees_of(members, grid, trees, use, forced);
}

}  // namespace

std::optional<TorusTrees> multicolour_trees(const TorusMembers& members, int root, TreesFor use,
                                            Routing routing) {
  if (routing == Routing::adaptive) return box_trees(members, root, use, routing);
  const auto grid = TorusGrid::of(members, Hops::shortest);
  if (!grid) return std::nullopt;
  if (routing != Routing::minimal) {
    // Longer ways round only if they pay.
    const auto longer = TorusGrid::of(members, Hops::forced);
    if (longer->rings() > grid->rings()) return trees_of(members, *longer, root, use, true);
  }
  return trees_of(members, *grid, root, use, false);
}

std::optional<TorusTrees> box_trees(const TorusMembers& members, int root, TreesFor use, Routing) {
  const auto grid = TorusGrid::of(members, Hops::confined);
  if (!grid) return std::nullopt;
  return trees_of(members, *grid, root, use, false);
}

}  // namespace unisono
