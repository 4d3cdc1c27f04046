// Boxes of R rings and one path, for both ways at once: 2 R + 1 trees each way, no link of more
// than two messages. So they move R + 1/2 links' bandwidth each way, where trees that share no link
// are R: for R + 1 there are not enough links.
//
// Every hop counts twice. The rings' R trees, and the same again, are a copy in each layer of the
// path. The first of them takes no hop of the root's layer: it enters each cell there from the next
// layer, the neck. So the added tree spreads in the root's layer, and goes from there through all
// layers at each cell. That leaves the others one hop at each cell between any two layers, but none
// between these two. There the added tree leaves out the cells below the root, which it comes to
// from the root's in the neck: by the hop up into the root, that no tree of rings has. The first
// tree leaves out all those but one: it comes to them by the same hops in the root's layer.
//
// Cost: trees * members steps. Source: our own.
#include <algorithm>

#include "patterns/torus_colours.h"

namespace unisono {

namespace {

class HalfTrees {
 public:
  /// `root`: a cell.
  HalfTrees(const TorusGrid& grid, int root);

  std::vector<GridTree> made() const;

 private:
  int rings() const { return colours_.rings(); }
  int cell(int v, int layer) const { return layer * colours_.cells() + v; }
  int below_root(int ring) const { return colours_.next(colours_.root(), ring, -1); }
  /// Whether below the root in that ring or a later one.
  bool is_below_root(int v, int ring) const;
  void copy(std::vector<GridHop>& to, int ring, int layer) const;
  void rise(std::vector<GridHop>& to, int v, int layer) const {
    to.push_back({cell(v, layer), cell(v, layer + 1), 0});
  }
  void enter_root(std::vector<GridHop>& to, int ring, int layer) const {
    to.push_back({cell(below_root(ring), layer), cell(colours_.root(), layer), 1});
  }
  std::vector<GridHop> first() const;
  std::vector<GridHop> another(int ring, bool again) const;
  std::vector<GridHop> added() const;

  RingColours colours_;
  std::vector<GridTree> trees_;
  int layers_, root_, roots_layer_, neck_, gap_;  // gap_: the lower layer of these two
};

std::vector<int> ring_lengths(const TorusGrid& grid) {
  std::vector<int> lengths;
  for (int ring = 0; ring < grid.rings(); ++ring) lengths.push_back(grid.length(ring));
  return lengths;
}

HalfTrees::HalfTrees(const TorusGrid& grid, int root)
    : colours_(ring_lengths(grid), root % (grid.cells() / grid.length(grid.rings()))),
      layers_(grid.length(grid.rings())),
      root_(root),
      roots_layer_(root / colours_.cells()),
      neck_(2 * roots_layer_ < layers_ ? roots_layer_ + 1 : roots_layer_ - 1),
      gap_(std::min(roots_layer_, neck_)) {
  for (int ring = 0; ring < rings(); ++ring) trees_.push_back(colours_.tree(ring, 1));
}

bool HalfTrees::is_below_root(int v, int ring) const {
  for (; ring < rings(); ++ring)
    if (v == below_root(ring)) return true;
  return false;
}

void HalfTrees::copy(std::vector<GridHop>& to, int ring, int layer) const {
  const GridTree& tree = trees_[static_cast<std::size_t>(ring)];
  for (int v = 0; v < colours_.cells(); ++v)
    if (v != colours_.root())
      to.push_back({cell(tree.parent[static_cast<std::size_t>(v)], layer), cell(v, layer),
                    tree.sign[static_cast<std::size_t>(v)]});
}

std::vector<GridHop> HalfTrees::first() const {
  std::vector<GridHop> to;
  for (int layer = 0; layer < layers_; ++layer) {
    if (layer != roots_layer_) copy(to, 0, layer);
    if (layer + 1 < layers_ && layer != gap_) rise(to, colours_.root(), layer);
  }
  for (int v = 0; v < colours_.cells(); ++v)
    if (!is_below_root(v, 1)) rise(to, v, gap_);
  for (int ring = 1; ring < rings(); ++ring) enter_root(to, ring, roots_layer_);
  return to;
}

/// From layer to layer below the root, or beside that where the same ring's other tree does.
std::vector<GridHop> HalfTrees::another(int ring, bool again) const {
  std::vector<GridHop> to;
  const int below = below_root(ring), beside = colours_.next(below, ring, -1);
  for (int layer = 0; layer < layers_; ++layer) {
    copy(to, ring, layer);
    if (layer + 1 < layers_) rise(to, again || layer == gap_ ? below : beside, layer);
  }
  return to;
}

std::vector<GridHop> HalfTrees::added() const {
  std::vector<GridHop> to;
  copy(to, 0, roots_layer_);
  for (int layer = 0; layer + 1 < layers_; ++layer)
    for (int v = 0; v < colours_.cells(); ++v)
      if (layer != gap_ || !is_below_root(v, 0)) rise(to, v, layer);
  for (int ring = 0; ring < rings(); ++ring) enter_root(to, ring, neck_);
  return to;
}

std::vector<GridTree> HalfTrees::made() const {
  const int cells = colours_.cells() * layers_;
  std::vector<GridTree> trees = {hung_from(first(), cells, root_),
                                 hung_from(added(), cells, root_)};
  for (const bool again : {false, true})
    for (int ring = again ? 0 : 1; ring < rings(); ++ring)
      trees.push_back(hung_from(another(ring, again), cells, root_));
  return trees;
}

std::optional<TorusTrees> half_trees_of(const TorusMembers& members, int root, TreesFor use,
                                        Hops hops) {
  if (use != TreesFor::both) return std::nullopt;
  const auto grid = TorusGrid::of(members, hops);
  if (!grid || grid->rings() == 0 || std::ssize(grid->axes()) != grid->rings() + 1)
    return std::nullopt;
  const HalfTrees trees(*grid, grid->cell(members.host(root)));
  return torus_trees_of(members, *grid, trees.made(), use, false);
}

}  // namespace

std::optional<TorusTrees> half_trees(const TorusMembers& members, int root, TreesFor use,
                                     Routing routing) {
  return half_trees_of(members, root, use,
                       routing == Routing::adaptive ? Hops::confined : Hops::shortest);
}

std::optional<TorusTrees> half_box_trees(const TorusMembers& members, int root, TreesFor use,
                                         Routing) {
  return half_trees_of(members, root, use, Hops::confined);
}

}  // namespace unisono
