#include "patterns/torus_trees.h"

#include <algorithm>

#include "patterns/torus_bound.h"
#include "patterns/torus_hops.h"

namespace unisono {

namespace {

/// Rasters and snakes are no more, out or in.
constexpr int kMostPlainTrees = 2;

/// In the order in which they are tried: quick ones first.
constexpr std::pair<TreeKind, MakeTrees*> kConstructions[] = {
    {TreeKind::multicolour, multicolour_trees},
    {TreeKind::multicolour, line_trees},
    {TreeKind::multicolour, mended_trees},
    {TreeKind::multicolour, half_trees},
    {TreeKind::box, box_trees},
    {TreeKind::box, half_box_trees},
    {TreeKind::raster, raster_trees},
    {TreeKind::greedy, greedy_trees},
    {TreeKind::snake, snake_trees},
};

struct ForestQuality {
  double rate = 0;  ///< share of one link's that all of the forest moves; with both, each of them
  int depth = 0;

  bool better_than(const ForestQuality& other) const {
    return rate > other.rate || (rate == other.rate && depth < other.depth);
  }
};

std::size_t count_of(const TorusTrees& trees) {
  return std::max(trees.out.size(), trees.in.size());
}

ForestQuality quality_of(const TorusMembers& members, const TorusTrees& trees) {
  const auto count = count_of(trees);
  const LinkUse use = use_of(members, trees.out, trees.in);
  return {static_cast<double>(count) / std::max(1, use.most), use.depth};
}

/// As many trees as the root has links: no forest has more. For both at once, where there is a
/// member on every host, no more than dimensions.
int most_trees(const TorusMembers& members, int root, TreesFor use) {
  const Torus& torus = members.torus();
  int links = 0, dimensions = 0;
  for (int d = 0; d < torus.dimensions(); ++d) {
    dimensions += torus.size(d) > 1 ? 1 : 0;
    for (const int sign : {1, -1})
      links += torus.exists(torus.link(members.host(root), d, sign)) ? 1 : 0;
  }
  return use == TreesFor::both ? std::min(links, dimensions) : links;
}

}  // namespace

TorusForest TorusTrees::all() const {
  TorusForest trees = out;
  trees.insert(trees.end(), in.begin(), in.end());
  return trees;
}

bool only_neighbours(const TorusMembers& members, const TorusTrees& trees) {
  for (const TorusForest* forest : {&trees.out, &trees.in})
    for (const TorusTree& tree : *forest)
      for (int member = 0; member < members.size(); ++member) {
        int hops = 0;
        for_links(members, tree, member, [&hops](LinkId) { ++hops; });
        if (hops > 1) return false;
      }
  return true;
}

std::optional<TorusTrees> make_trees(TreeKind kind, const TorusMembers& members, int root,
                                     TreesFor use, Routing routing) {
  std::optional<TorusTrees> best;
  ForestQuality reached;
  for (const auto& [made, make] : kConstructions) {
    if (kind != TreeKind::best && kind != made) continue;
    // Nothing is better then, but on a ring, where a box's chains are half as deep.
    if (best && kind == TreeKind::best && members.torus().dimensions() > 1 &&
        reached.rate >= most_trees(members, root, use))
      break;
    // Packing is slow, but of few members may be shallower; snakes are no better than rasters.
    if (kind == TreeKind::best && made == TreeKind::greedy && reached.rate > 1 &&
        members.size() > HopTable::kFewMembers &&
        reached.rate >= port_bound(members, root, use, routing))
      continue;
    if (kind == TreeKind::best && made == TreeKind::snake && reached.rate >= 1) continue;
    if (made == TreeKind::raster && reached.rate > kMostPlainTrees) continue;
    auto trees = make(members, root, use, routing);
    // A tree moves no more than a link's share.
    if (!trees || (best && reached.rate > static_cast<double>(count_of(*trees)))) continue;
    const ForestQuality quality = quality_of(members, *trees);
    if (best && !quality.better_than(reached)) continue;
    reached = quality;
    best = std::move(trees);
  }
  // Nobody knows which routes a network of this kind chooses.
  if (!best && kind == TreeKind::best) return raster_trees(members, root, use, Routing::minimal);
  return best;
}

}  // namespace unisono
