// Members of a torus that are a grid: all combinations of some coordinates in each dimension, as
// the whole torus, a torus without some planes, or a box. Neighbours in the grid are joined by
// straight lines, and no two of these share a link.
#pragma once
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "patterns/torus_trees.h"

namespace unisono {

/// One dimension of a grid, of at least two coordinates.
struct GridAxis {
  int dimension = 0;
  std::vector<int> at;  ///< coordinates; upwards, though a path may begin anywhere in a ring
  bool ring = false;    ///< whether the last is a neighbour of the first; otherwise a path
};

/// How hops along an axis are to find their way.
enum class Hops : std::uint8_t {
  shortest,  ///< without being told: no hop is longer than half the ring
  /// Round all rings as a tree wants it, upwards or downwards. Beside paths, rings of two count as
  /// paths: extend_by_path needs neighbours of the root that are different.
  forced,
  confined,  ///< shortest, over links between members only
};

/// Cells of the smallest grid that all members are in. O(members * dimensions).
int cells_around(const TorusMembers& members);

class TorusGrid {
 public:
  /// The members as a grid; nothing where they are none, or hops of that kind do not exist.
  /// O(hosts of the torus * dimensions).
  static std::optional<TorusGrid> of(const TorusMembers& members, Hops hops);
  /// The smallest grid that all members are in; others may be as well.
  static std::optional<TorusGrid> around(const TorusMembers& members, Hops hops);

  /// Rings come first.
  const std::vector<GridAxis>& axes() const { return axes_; }
  int rings() const { return rings_; }
  int length(int axis) const {
    return static_cast<int>(axes_[static_cast<std::size_t>(axis)].at.size());
  }
  /// A cell has a number: the index along the first axis, plus its length times ...
  int cells() const { return static_cast<int>(hosts_.size()); }
  int host(int cell) const { return hosts_[static_cast<std::size_t>(cell)]; }
  int cell(int host) const { return cells_[static_cast<std::size_t>(host)]; }

 private:
  std::vector<GridAxis> axes_;
  int rings_ = 0;
  std::vector<int> hosts_;  // by cell
  std::vector<int> cells_;  // by host; -1: none
};

/// A spanning tree over the cells of a grid.
struct GridTree {
  explicit GridTree(int cells = 0)
      : parent(static_cast<std::size_t>(cells), -1), sign(static_cast<std::size_t>(cells)) {}
  void hang(int cell, int from, int going) {
    parent[static_cast<std::size_t>(cell)] = from;
    sign[static_cast<std::size_t>(cell)] = static_cast<std::int8_t>(going);
  }

  std::vector<int> parent;  ///< by cell; -1: the root
  /// By cell, the way round its ring of the hop from the parent: +1: upwards, -1: downwards, 0: of
  /// a hop along a path, which has no choice.
  std::vector<std::int8_t> sign;
};

/// A hop between two cells, and its way round.
struct GridHop {
  int from = 0, to = 0;
  std::int8_t sign = 0;  ///< as in GridTree
};
/// Which hops end at a cell, as numbers of them.
class HopsAt {
 public:
  HopsAt(std::span<const GridHop> hops, int cells);
  std::span<const int> of(int cell) const {
    const auto c = static_cast<std::size_t>(cell);
    return std::span(at_).subspan(static_cast<std::size_t>(first_[c]),
                                  static_cast<std::size_t>(first_[c + 1] - first_[c]));
  }

 private:
  std::vector<int> first_, at_;
};

/// The tree of these hops, whichever way each is given, as it hangs from `root`.
GridTree hung_from(std::span<const GridHop> hops, int cells, int root);

/// Trees over the members, out, in, or both; cells that are no members are left out. `forced`:
/// messages ask for the way round that each hop has.
TorusTrees torus_trees_of(const TorusMembers& members, const TorusGrid& grid,
                          const std::vector<GridTree>& trees, TreesFor use, bool forced);

}  // namespace unisono
