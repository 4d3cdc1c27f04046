#include "patterns/torus_grid.h"

#include <algorithm>
#include <numeric>

namespace unisono {

namespace {

/// Nothing where hops of that kind do not exist.
std::optional<GridAxis> axis_of(const Torus& torus, int dimension, std::vector<int> at, Hops hops) {
  const int n = torus.size(dimension);
  if (!torus.wraps(dimension)) {
    const bool gaps = at.back() - at.front() >= std::ssize(at);
    if (hops == Hops::confined && gaps) return std::nullopt;
    return GridAxis{dimension, std::move(at), false};
  }
  if (hops == Hops::forced) return GridAxis{dimension, std::move(at), true};
  // A path leaves out the widest gap: all others are at most half the ring.
  int widest = 0, second = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const int gap = i == 0 ? at.front() + n - at.back() : at[i] - at[i - 1];
    second = std::max(second, std::min(gap, widest));
    if (gap > widest) begin = i;
    widest = std::max(widest, gap);
  }
  if (hops == Hops::confined && second > 1) return std::nullopt;
  const bool ring = hops == Hops::confined ? widest == 1 : 2 * widest < n;
  if (!ring) std::rotate(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(begin), at.end());
  return GridAxis{dimension, std::move(at), ring};
}

}  // namespace

int cells_around(const TorusMembers& members) {
  std::size_t cells = 1;
  for (const auto& at : coordinates_of(members)) cells *= at.size();
  return static_cast<int>(cells);
}

std::optional<TorusGrid> TorusGrid::of(const TorusMembers& members, Hops hops) {
  return cells_around(members) == members.size() ? around(members, hops) : std::nullopt;
}

std::optional<TorusGrid> TorusGrid::around(const TorusMembers& members, Hops hops) {
  const Torus& torus = members.torus();
  const auto coordinates = coordinates_of(members);
  TorusGrid grid;
  int first = 0;
  for (int d = 0; d < torus.dimensions(); ++d) {
    const auto& at = coordinates[static_cast<std::size_t>(d)];
    first = torus.moved(first, d, at.front());
    if (at.size() == 1) continue;
    auto axis = axis_of(torus, d, at, hops);
    if (!axis) return std::nullopt;
    grid.axes_.push_back(std::move(*axis));
  }
  const auto is_path = [](const GridAxis& axis) { return !axis.ring; };
  if (std::any_of(grid.axes_.begin(), grid.axes_.end(), is_path))
    for (GridAxis& axis : grid.axes_)
      if (axis.at.size() == 2) axis = *axis_of(torus, axis.dimension, axis.at, Hops::shortest);
  const auto paths = std::stable_partition(grid.axes_.begin(), grid.axes_.end(),
                                           [](const GridAxis& axis) { return axis.ring; });
  grid.rings_ = static_cast<int>(paths - grid.axes_.begin());
  grid.hosts_ = {first};
  for (const GridAxis& axis : grid.axes_) {
    const std::vector<int> below = std::move(grid.hosts_);
    grid.hosts_.clear();
    for (const int at : axis.at)
      for (const int host : below) grid.hosts_.push_back(torus.moved(host, axis.dimension, at));
  }
  grid.cells_.assign(static_cast<std::size_t>(torus.hosts()), -1);
  for (int cell = 0; cell < grid.cells(); ++cell)
    grid.cells_[static_cast<std::size_t>(grid.host(cell))] = cell;
  return grid;
}

HopsAt::HopsAt(std::span<const GridHop> hops, int cells)
    : first_(static_cast<std::size_t>(cells) + 1), at_(2 * hops.size()) {
  for (const GridHop& hop : hops)
    for (const int end : {hop.from, hop.to}) ++first_[static_cast<std::size_t>(end) + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::vector<int> next(first_.begin(), first_.end() - 1);
  for (std::size_t h = 0; h < hops.size(); ++h)
    for (const int end : {hops[h].from, hops[h].to})
      at_[static_cast<std::size_t>(next[static_cast<std::size_t>(end)]++)] = static_cast<int>(h);
}

GridTree hung_from(std::span<const GridHop> hops, int cells, int root) {
  const HopsAt at(hops, cells);
  GridTree tree(cells);
  std::vector<int> queue = {root};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const int cell = queue[i];
    for (const int h : at.of(cell)) {
      const GridHop& hop = hops[static_cast<std::size_t>(h)];
      const bool along = hop.from == cell;
      const int there = along ? hop.to : hop.from;
      if (tree.parent[static_cast<std::size_t>(cell)] == there) continue;
      tree.hang(there, cell, along ? hop.sign : -hop.sign);
      queue.push_back(there);
    }
  }
  return tree;
}

namespace {

TorusTree torus_tree(const TorusMembers& members, const TorusGrid& grid, const GridTree& tree,
                     Flow flow, bool forced) {
  TorusTree made;
  made.flow = flow;
  made.parent.assign(static_cast<std::size_t>(members.size()), -1);
  std::vector<std::uint8_t> ways(made.parent.size());
  bool upwards = false, downwards = false;
  for (int cell = 0; cell < grid.cells(); ++cell) {
    const int host = members.member(grid.host(cell));
    const int parent = tree.parent[static_cast<std::size_t>(cell)];
    if (host < 0 || parent < 0) continue;
    const auto member = static_cast<std::size_t>(host);
    made.parent[member] = members.member(grid.host(parent));
    const int from_root = forced ? tree.sign[static_cast<std::size_t>(cell)] : 0;
    const auto sign = static_cast<std::int8_t>(flow == Flow::out ? from_root : -from_root);
    ways[member] = Way{.direction = sign}.number();
    upwards = upwards || sign > 0;
    downwards = downwards || sign < 0;
  }
  if (upwards && downwards)
    made.ways = std::move(ways);
  else if (upwards || downwards)
    made.way.direction = upwards ? 1 : -1;
  return made;
}

}  // namespace

TorusTrees torus_trees_of(const TorusMembers& members, const TorusGrid& grid,
                          const std::vector<GridTree>& trees, TreesFor use, bool forced) {
  TorusTrees made;
  for (const GridTree& tree : trees) {
    if (use != TreesFor::reduction)
      made.out.push_back(torus_tree(members, grid, tree, Flow::out, forced));
    if (use != TreesFor::broadcast)
      made.in.push_back(torus_tree(members, grid, tree, Flow::in, forced));
  }
  return made;
}

}  // namespace unisono
