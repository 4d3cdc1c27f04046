#include "patterns/torus_colours.h"

#include <algorithm>

namespace unisono {

RingColours::RingColours(std::vector<int> lengths, int root)
    : lengths_(std::move(lengths)), root_(root) {
  for (const int length : lengths_) {
    strides_.push_back(cells_);
    cells_ *= length;
  }
}

int RingColours::next(int cell, int ring, int sign) const {
  const auto r = static_cast<std::size_t>(ring);
  const int at = cell / strides_[r] % lengths_[r];
  const int to = at + sign < 0 ? lengths_[r] - 1 : at + sign == lengths_[r] ? 0 : at + sign;
  return cell + (to - at) * strides_[r];
}

int RingColours::offset(int cell, int ring, int sign) const {
  const auto r = static_cast<std::size_t>(ring);
  const int n = lengths_[r], at = cell / strides_[r] % n, from = root_ / strides_[r] % n;
  return (sign * (at - from) + n) % n;
}

GridTree RingColours::tree(int colour, int sign) const {
  GridTree made(cells_);
  std::vector<int> offset_of(lengths_.size());  // of the cell, counted along
  for (int ring = 0; ring < rings(); ++ring)
    offset_of[static_cast<std::size_t>(ring)] = offset(0, ring, sign);
  std::vector<int> after;
  for (int i = 1; i < rings(); ++i) after.push_back((colour + i) % rings());
  for (int cell = 0; cell < cells_; ++cell) {
    if (cell != root_) {
      int ring = colour;
      if (offset_of[static_cast<std::size_t>(colour)] != 0)
        for (const int other : after)
          if (offset_of[static_cast<std::size_t>(other)] != 0) ring = other;
      made.hang(cell, next(cell, ring, -sign), sign);
    }
    for (std::size_t r = 0; r < lengths_.size(); ++r) {
      const int n = lengths_[r], next_offset = offset_of[r] + sign;
      offset_of[r] = next_offset < 0 ? n - 1 : next_offset == n ? 0 : next_offset;
      if ((cell + 1) % (strides_[r] * n) != 0) break;
    }
  }
  return made;
}

namespace {

int child_of_root(const GridTree& tree, int root) {
  return static_cast<int>(std::find(tree.parent.begin(), tree.parent.end(), root) -
                          tree.parent.begin());
}

/// A path's layers, numbered from the root's, on one side of it: copies of a grid of `cells`.
struct Layers {
  int cells, root_layer, side, count;
  int cell(int layer, int within) const { return (root_layer + side * layer) * cells + within; }
};

/// A copy of `tree` of the grid in one layer, as it is.
void copy_into(GridTree& to, const GridTree& tree, const Layers& layers, int layer) {
  for (int v = 0; v < layers.cells; ++v)
    if (const int parent = tree.parent[static_cast<std::size_t>(v)]; parent >= 0)
      to.hang(layers.cell(layer, v), layers.cell(layer, parent),
              tree.sign[static_cast<std::size_t>(v)]);
}

/// The same, entered at `child`, which sends to the root instead of receiving from it.
void enter_at(GridTree& to, const GridTree& tree, const Layers& layers, int layer, int root,
              int child) {
  copy_into(to, tree, layers, layer);
  to.hang(layers.cell(layer, child), layers.cell(layer - 1, child), 0);
  to.hang(layers.cell(layer, root), layers.cell(layer, child),
          -tree.sign[static_cast<std::size_t>(child)]);
}

/// Trees that begin as those of the grid in the root's layer.
std::vector<GridTree> in_roots_layer(const std::vector<GridTree>& trees, int cells, int length,
                                     int root_layer) {
  std::vector<GridTree> made;
  for (const GridTree& tree : trees) {
    made.emplace_back(cells * length);
    copy_into(made.back(), tree, {cells, root_layer, 1, length}, 0);
  }
  return made;
}

/// Tree r, where all others have what they need of the last layer.
void rise_everywhere(GridTree& to, const std::vector<GridTree>& trees, const Layers& layers,
                     int root, std::span<const int> child) {
  const int last = layers.count;
  for (int v = 0; v < layers.cells; ++v) to.hang(layers.cell(last, v), layers.cell(last - 1, v), 0);
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const int at = layers.cell(last, child[i]), root_above = layers.cell(last, root);
    const int sign = trees[i].sign[static_cast<std::size_t>(child[i])];
    if (i + 1 < trees.size())
      to.hang(at, root_above, sign);
    else
      to.hang(root_above, at, -sign);
  }
}

/// The new tree on one side of the root; `spread`: the tree that it does as in the last layer.
void come_back(GridTree& to, const GridTree& spread, const Layers& layers, int root,
               bool to_roots_layer) {
  copy_into(to, spread, layers, layers.count);
  for (int layer = to_roots_layer ? 0 : 1; layer < layers.count; ++layer)
    for (int v = 0; v < layers.cells; ++v)
      if (v != root) to.hang(layers.cell(layer, v), layers.cell(layer + 1, v), 0);
  for (int layer = 1; layer <= layers.count; ++layer)
    to.hang(layers.cell(layer, root), layers.cell(layer - 1, root), 0);
}

}  // namespace

void extend_by_path(std::vector<GridTree>& trees, int cells, int root, int length, int root_layer) {
  const std::size_t r = trees.size();
  std::vector<int> child;
  for (const GridTree& tree : trees) child.push_back(child_of_root(tree, root));
  auto made = in_roots_layer(trees, cells, length, root_layer);
  GridTree added(cells * length);
  const GridTree spread = r == 0 ? GridTree(1) : trees.back();
  bool root_layer_is_fed = false;
  for (const int side : {1, -1}) {
    const Layers layers{cells, root_layer, side, side > 0 ? length - 1 - root_layer : root_layer};
    if (layers.count == 0) continue;
    for (std::size_t i = 0; i < r; ++i)
      for (int layer = 1; layer <= layers.count; ++layer)
        if (i + 1 < r || layer < layers.count)
          enter_at(made[i], trees[i], layers, layer, root, child[i]);
        else
          rise_everywhere(made[i], trees, layers, root, child);
    come_back(added, spread, layers, root, !root_layer_is_fed);
    root_layer_is_fed = true;
  }
  made.push_back(std::move(added));
  trees = std::move(made);
}

void extend_both_ways(std::vector<GridTree>& trees, int cells, int root, int length,
                      int root_layer) {
  if (trees.empty()) return extend_by_path(trees, cells, root, length, root_layer);
  auto made = in_roots_layer(trees, cells, length, root_layer);
  for (std::size_t i = 0; i < trees.size(); ++i)
    for (const int side : {1, -1}) {
      const Layers layers{cells, root_layer, side, side > 0 ? length - 1 - root_layer : root_layer};
      for (int layer = 1; layer <= layers.count; ++layer)
        enter_at(made[i], trees[i], layers, layer, root, child_of_root(trees[i], root));
    }
  trees = std::move(made);
}

namespace {

/// Three paths and nothing else, if they have the hops for two trees; `longest` is the grid that
/// the others are beside.
bool extend_to_three_paths(std::vector<GridTree>& trees, const TorusGrid& grid, int root) {
  const int n[] = {grid.length(0), grid.length(1), grid.length(2)},
            stride[] = {1, n[0], n[0] * n[1]};
  const int longest = static_cast<int>(std::max_element(n, n + 3) - n);
  for (int turn = 0; turn < 6; ++turn) {
    const int base = (longest + turn / 2) % 3, first = (base + 1 + turn % 2) % 3;
    const int second = 3 - base - first;
    const auto at = [&](int axis) { return root / stride[axis] % n[axis]; };
    std::vector<GridTree> line;
    extend_by_path(line, 1, 0, n[base], at(base));
    const TwoPaths paths{
        n[base],       n[first],       n[second], stride[base],
        stride[first], stride[second], at(base),  at(first) + n[first] * at(second)};
    if (!extend_by_two_paths(line, paths, {})) continue;
    trees = std::move(line);
    return true;
  }
  return false;
}

/// The paths beside a grid's rings, for both ways at once.
void extend_by_paths_both_ways(std::vector<GridTree>& trees, const TorusGrid& grid,
                               const RingColours& colours, int root) {
  int cells = colours.cells(), axis = grid.rings();
  const int axes = static_cast<int>(grid.axes().size());
  // Hops up into the root, which no tree has.
  std::vector<int> spare;
  for (int ring = 0; ring < colours.rings(); ++ring)
    spare.push_back(colours.next(colours.root(), ring, -1));
  if (axis == 0 && axes > 2 && extend_to_three_paths(trees, grid, root)) {
    for (; axis < 3; ++axis) cells *= grid.length(axis);
  }
  while (axis < axes) {
    const int length = grid.length(axis), layer = root / cells % length;
    if (axis + 1 < axes && !trees.empty()) {
      const int second = grid.length(axis + 1), after = cells * length;
      const TwoPaths paths{cells, length, second,       1,
                           cells, after,  root % cells, root / cells % (length * second)};
      if (extend_by_two_paths(trees, paths, spare)) {
        cells = after * second;
        axis += 2;
        spare.clear();
        continue;
      }
    }
    extend_both_ways(trees, cells, root % cells, length, layer);
    cells *= length;
    ++axis;
    spare.clear();
  }
}

}  // namespace

std::vector<GridTree> grid_trees(const TorusGrid& grid, int root, bool both) {
  std::vector<int> lengths;
  int cells = 1;
  for (int axis = 0; axis < grid.rings(); ++axis) {
    lengths.push_back(grid.length(axis));
    cells *= grid.length(axis);
  }
  const RingColours colours(lengths, root % cells);
  std::vector<GridTree> trees;
  for (const int sign : {1, -1})
    for (int colour = 0; colour < colours.rings() && (sign > 0 || !both); ++colour)
      trees.push_back(colours.tree(colour, sign));
  if (both) {
    extend_by_paths_both_ways(trees, grid, colours, root);
  } else {
    for (int axis = grid.rings(); axis < std::ssize(grid.axes()); ++axis) {
      const int length = grid.length(axis), layer = root / cells % length;
      extend_by_path(trees, cells, root % cells, length, layer);
      cells *= length;
    }
  }
  // One member alone.
  if (trees.empty()) trees.emplace_back(1);
  return trees;
}

}  // namespace unisono
