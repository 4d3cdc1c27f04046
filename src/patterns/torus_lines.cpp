// Members that are a grid but for some hosts: the grid's trees, from which those hosts are taken
// out, one after the other. What a host received along a line and sent on along the same line then
// goes straight through its router, so that every hop is along a line, to the next member on it: a
// member has at most one message from each side, and no link has two.
//
// Where a host is taken out, the one behind it on a line receives from the one before it, in the
// same tree, unless that makes a circle. Then the trees exchange, at that host, the sides from
// which they receive: a matching of trees and sides. If there is none, a tree is given up, and the
// sides that it used serve the others.
//
// One missing host m costs no tree where the way is forced and rings have three hosts or more: let
// its child be c = m + e, a step in ring d. If m is not in the root's plane of ring d, m - e does.
// If it is, m - e may be behind c in this tree; but in tree d, where m is a leaf, it is not: so in
// tree d c receives from m - e, and in this tree it does from where it received in tree d.
//
// Cost: for each host taken out a way to the root for each of its 2k sides, seldom (2k)^2. Sources:
// splitting off edges at a vertex is Lovasz's and Mader's, one missing host Mittal et al.'s (2012;
// k trees); along lines, on trees that are there already, is our own.
#include <algorithm>

#include "patterns/torus_colours.h"

namespace unisono {

namespace {

/// Steps on ways to the root, for each cell; beyond that all trees are given up. As many as 90 were
/// needed when half or three quarters of 65536 hosts were taken out of tori of two to four
/// dimensions.
constexpr std::int64_t kMostSteps = 512;

/// The trees while cells are taken out. A side of a cell has a number: twice the axis, plus one
/// where messages from it go downwards.
class Lines {
 public:
  Lines(const TorusMembers& members, const TorusGrid& grid, int root, TreesFor use,
        Routing routing);

  /// As many trees as can be kept are.
  void take_out(int cell);
  std::vector<GridTree> trees() const;

 private:
  static int sign(int side) { return side % 2 == 0 ? 1 : -1; }
  static int& at(std::vector<int>& all, int place) { return all[static_cast<std::size_t>(place)]; }
  static int at(const std::vector<int>& all, int place) {
    return all[static_cast<std::size_t>(place)];
  }
  int count() const { return static_cast<int>(side_.size()); }
  /// The side from which a cell receives.
  int side(int tree, int cell) const { return at(side_[static_cast<std::size_t>(tree)], cell); }
  int source(int cell, int side) const { return at(source_, cell * sides_ + side); }
  bool may_go(int from, int to, int side) const;
  bool is_behind(int tree, int cell, int other) const;
  bool match(int tree, int cell, int changed, unsigned& tried, std::vector<int>& tree_of) const;
  void rehang(int cell, int changed);

  const Torus& torus_;
  const TorusGrid& grid_;
  int root_, sides_;
  TreesFor use_;
  Routing routing_;
  std::vector<int> source_;             // by cell and side: the next cell there; -1: none
  std::vector<int> receiver_;           // by cell and side: whose source it is; -1: nobody's
  std::vector<std::vector<int>> side_;  // by tree and cell
  mutable std::int64_t steps_ = 0;
};

Lines::Lines(const TorusMembers& members, const TorusGrid& grid, int root, TreesFor use,
             Routing routing)
    : torus_(members.torus()),
      grid_(grid),
      root_(root),
      sides_(2 * static_cast<int>(grid.axes().size())),
      use_(use),
      routing_(routing),
      source_(static_cast<std::size_t>(grid.cells() * sides_), -1),
      receiver_(source_) {
  int stride = 1;
  for (int axis = 0; 2 * axis < sides_; ++axis) {
    const int n = grid.length(axis);
    for (int cell = 0; cell < grid.cells(); ++cell) {
      const int index = cell / stride % n;
      if (index + 1 == n && !grid.axes()[static_cast<std::size_t>(axis)].ring) continue;
      const int next = cell + (index + 1 == n ? 1 - n : 1) * stride;
      at(source_, next * sides_ + 2 * axis) = at(receiver_, next * sides_ + 2 * axis + 1) = cell;
      at(source_, cell * sides_ + 2 * axis + 1) = at(receiver_, cell * sides_ + 2 * axis) = next;
    }
    stride *= n;
  }
  for (const GridTree& tree : grid_trees(grid, root, use == TreesFor::both)) {
    side_.emplace_back(tree.parent.size(), -1);
    for (int cell = 0; cell < grid.cells(); ++cell)
      for (int side = 0; side < sides_ && cell != root; ++side)
        if (source(cell, side) == at(tree.parent, cell) &&
            tree.sign[static_cast<std::size_t>(cell)] != -sign(side))
          at(side_.back(), cell) = side;
  }
}

/// Whether the routing takes a message along the line, and one back, if the trees are for that.
bool Lines::may_go(int from, int to, int side) const {
  if (routing_ != Routing::minimal) return true;
  const int d = grid_.axes()[static_cast<std::size_t>(side / 2)].dimension;
  const int a = torus_.coordinate(grid_.host(from), d), b = torus_.coordinate(grid_.host(to), d);
  return (use_ == TreesFor::reduction || torus_.direction(a, b, d, 0) == sign(side)) &&
         (use_ == TreesFor::broadcast || torus_.direction(b, a, d, 0) == -sign(side));
}

bool Lines::is_behind(int tree, int cell, int other) const {
  for (; cell != root_ && cell != other; ++steps_) cell = source(cell, side(tree, cell));
  return cell == other;
}

/// Finds a side for a tree, the one that it has, if possible; those that have theirs may take
/// others. `changed`: the side that has another source than it had.
bool Lines::match(int tree, int cell, int changed, unsigned& tried,
                  std::vector<int>& tree_of) const {
  for (int i = -1; i < sides_; ++i) {
    const int wanted = i < 0 ? side(tree, cell) : i, from = source(cell, wanted);
    const int holder = at(tree_of, wanted);
    if (from < 0 || (tried >> wanted & 1U) != 0 || (i < 0 && holder >= 0)) continue;
    // The reversed trees go downwards.
    if (use_ == TreesFor::both && sign(wanted) < 0) continue;
    const bool still_right = wanted == side(tree, cell) && wanted != changed;
    if (!still_right && is_behind(tree, from, cell)) continue;
    tried |= 1U << wanted;
    if (holder >= 0 && !match(holder, cell, changed, tried, tree_of)) continue;
    at(tree_of, wanted) = tree;
    return true;
  }
  return false;
}

/// Gives every tree a side of the cell again, or gives trees up.
void Lines::rehang(int cell, int changed) {
  std::vector<int> tree_of;
  for (int tree = 0; tree < count();) {
    if (tree == 0) tree_of.assign(static_cast<std::size_t>(sides_), -1);
    unsigned tried = 0;
    if (match(tree, cell, changed, tried, tree_of)) {
      ++tree;
    } else {
      side_.erase(side_.begin() + tree);
      tree = 0;
    }
  }
  if (count() == 0) return;
  for (int side = 0; side < sides_; ++side)
    if (const int tree = at(tree_of, side); tree >= 0)
      at(side_[static_cast<std::size_t>(tree)], cell) = side;
}

void Lines::take_out(int cell) {
  if (steps_ > kMostSteps * grid_.cells()) side_.clear();
  for (int side = 0; side < sides_; ++side) {
    const int from = source(cell, side), to = at(receiver_, cell * sides_ + side);
    if (to == cell) continue;  // alone on its line
    const bool on = from >= 0 && to >= 0 && from != to && may_go(from, to, side);
    if (from >= 0) at(receiver_, from * sides_ + side) = on ? to : -1;
    if (to < 0) continue;
    at(source_, to * sides_ + side) = on ? from : -1;
    for (int tree = 0; tree < count() && to != root_; ++tree) {
      if (this->side(tree, to) != side) continue;
      const bool straight_on = this->side(tree, cell) == side;  // from where the cell receives
      if (!on || (!straight_on && is_behind(tree, from, to))) rehang(to, side);
      break;
    }
  }
}

std::vector<GridTree> Lines::trees() const {
  std::vector<GridTree> made;
  for (int tree = 0; tree < count(); ++tree) {
    made.emplace_back(grid_.cells());
    for (int cell = 0; cell < grid_.cells(); ++cell)
      if (const int from = side(tree, cell); from >= 0)
        made.back().hang(cell, source(cell, from), sign(from));
  }
  return made;
}

/// The cells that are no members. Of the orders tried this one, by distance from the root, keeps
/// most trees: half a tree more in the mean at half of 8x8x16, none at nine tenths.
std::vector<int> others_from_near_to_far(const TorusMembers& members, const TorusGrid& grid,
                                         int root) {
  std::vector<std::vector<int>> at_distance;
  for (int cell = 0; cell < grid.cells(); ++cell) {
    const int host = grid.host(cell);
    if (members.member(host) >= 0) continue;
    const auto distance = static_cast<std::size_t>(members.torus().distance(root, host));
    if (distance >= at_distance.size()) at_distance.resize(distance + 1);
    at_distance[distance].push_back(cell);
  }
  std::vector<int> others;
  for (const auto& some : at_distance) others.insert(others.end(), some.begin(), some.end());
  return others;
}

/// Below that hardly a tree is left.
constexpr int kLeastShareOfCells = 4;

}  // namespace

std::optional<TorusTrees> line_trees(const TorusMembers& members, int root, TreesFor use,
                                     Routing routing) {
  if (routing == Routing::adaptive) return std::nullopt;
  const bool forced = routing != Routing::minimal;
  const auto grid = TorusGrid::around(members, forced ? Hops::forced : Hops::shortest);
  const int axes = static_cast<int>(grid->axes().size());
  if (grid->cells() / kLeastShareOfCells > members.size()) return std::nullopt;
  // The reversed trees of paths could meet the trees.
  if (use == TreesFor::both && grid->rings() < axes) return std::nullopt;
  Lines lines(members, *grid, grid->cell(members.host(root)), use, routing);
  for (const int cell : others_from_near_to_far(members, *grid, members.host(root)))
    lines.take_out(cell);
  const auto trees = lines.trees();
  if (trees.empty()) return std::nullopt;
  return torus_trees_of(members, *grid, trees, use, forced);
}

}  // namespace unisono
