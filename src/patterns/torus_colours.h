// Trees over the cells of a grid, by formula.
#pragma once
#include <span>
#include <vector>

#include "patterns/torus_grid.h"

namespace unisono {

/// Two trees ("colours") for each ring, one upwards and one downwards; no two share a hop. Colour c
/// fills ring c from the root, from all of that ring c + 1, and so on; the cells that lie in the
/// root's plane of ring c come last, each over the ring's closing hop. Seen from above the root,
/// upwards, with o the offsets from it: o_c = 0: the parent is one step back in ring c, else one
/// step back in the last ring, in the order c, c + 1, .., that has o != 0. All hops are used but
/// those into the root; depth at most the sum of the lengths.
/// Source: Faraj et al. 2009, "multicolor"; shown disjoint in tests/patterns.
class RingColours {
 public:
  /// `lengths` at least 2 each; `root`: a cell of the rings' grid.
  RingColours(std::vector<int> lengths, int root);

  int rings() const { return static_cast<int>(lengths_.size()); }
  int cells() const { return cells_; }
  int root() const { return root_; }
  /// One step upwards (+1) or downwards (-1) in a ring.
  int next(int cell, int ring, int sign) const;
  /// How far a cell is from the root, in the direction `sign`.
  int offset(int cell, int ring, int sign) const;
  GridTree tree(int colour, int sign) const;

 private:
  std::vector<int> lengths_, strides_;
  int cells_ = 1, root_ = 0;
};

/// Of a grid G with r trees (none, if G is one cell): of `length` copies of G in a path, r + 1
/// trees, again without a common hop. u_i: a child of the root x in tree i, each another.
///
/// In x's layer trees 1..r are as in G. A layer away from it, tree i goes up at u_i, from there to
/// x, and on as in G. The new tree goes up at x through all layers, spreads in the last one like
/// tree r does in G, and comes back down everywhere else, which gives it x's layer and all between.
/// The last layer's tree r comes up everywhere except where others do: x, u_1, .., whom it reaches
/// over hops that are left: u_r to x, x to u_i. If there are layers on both sides of x, the new
/// tree comes back to x's layer from one.
/// r + 1 is all there can be: a corner has no more links than r + 1, if r was that for G.
void extend_by_path(std::vector<GridTree>& trees, int cells, int root, int length, int root_layer);

/// The same with trees that do not even share a hop with another in the opposite direction: r
/// trees, or one if there were none.
void extend_both_ways(std::vector<GridTree>& trees, int cells, int root, int length,
                      int root_layer);

/// A grid, and two paths beside it: the cells of the whole are (cell of the grid, place in the
/// first path, place in the second).
struct TwoPaths {
  int cells = 1;              ///< of the grid
  int first = 2, second = 2;  ///< lengths of the paths, 2 at least
  int cell_stride = 1, first_stride = 1, second_stride = 1;
  int grid_root = 0, root_place = 0;

  int places() const { return first * second; }
  int cell(int v, int place) const {
    return v * cell_stride + place % first * first_stride + place / first * second_stride;
  }
};

/// Trees of a grid that share no hop, in either direction, become as many over it and two paths
/// beside it, and one more: r + 1. Nothing changes, and false, where there are not enough hops.
///
/// Places are pairs of layers, one of each path. In one place, the leaf, tree 1 takes no hop of the
/// grid: each cell of it is entered from the next place, the neck. So the new tree spreads there as
/// tree 1 would, and goes from each cell v through all places. The other hops from place to place
/// are shared out: trees 1 .. r each need those of a tree over the places, at whatever cells, and
/// at each cell the rest must join all places for the new tree: `left` may go, one for each square
/// of four places but the leaf's. Where `spare` says that hops of the grid lead from those cells
/// upwards to its root that no tree has, as many as trees, the new tree comes by these to as many
/// cells in every place, and the hops there are the others' for nothing.
///
/// No forest has more: 2 (r + 1) trees have all hops of three paths but a few. Cost: hops * r; ways
/// between places are found round one square mostly. Source: our own; Nash-Williams 1961 says how
/// many trees there can be.
bool extend_by_two_paths(std::vector<GridTree>& trees, const TwoPaths& paths,
                         const std::vector<int>& spare);

/// All of a grid: its rings' trees, extended by its paths. `both`: the reversed trees are free as
/// well.
std::vector<GridTree> grid_trees(const TorusGrid& grid, int root, bool both);

}  // namespace unisono
