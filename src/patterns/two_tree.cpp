#include "patterns/two_tree.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace unisono {

namespace {

/// The in-order tree on 1..size. Where a right child would lie beyond the end, what is left of its
/// subtree takes its place.
InOrderNode in_order_node(int size, int position) {
  const int span = position & -position;  // 2^height
  const bool is_right = (position / span & 2) != 0 || position > size - span;
  InOrderNode node{.parent = is_right ? position - span : position + span,
                   .first = position - (span - 1),
                   .last = position + std::min(span - 1, size - position)};
  if (span > 1) node.left = position - span / 2;
  for (int step = span / 2; step >= 1 && node.right == 0; step /= 2)
    if (position <= size - step) node.right = position + step;
  return node;
}

/// colour[x]: of the edge that enters x in tree 0; the edge that enters it in tree 1 has the other.
/// Siblings differ in either tree, so that a walk from sibling to sibling, in one tree and the
/// other in turn, settles them; every walk ends, or comes back after an even number of steps.
std::vector<std::int8_t> colours(const TwoTrees& trees) {
  std::vector<std::int8_t> colour(static_cast<std::size_t>(trees.size()) + 1, -1);
  const auto of = [&](int x) -> std::int8_t& { return colour[static_cast<std::size_t>(x)]; };
  const auto walk = [&](int x, int tree) {
    for (;; tree = 1 - tree) {
      const int next = trees.sibling(tree, x);
      if (next == 0 || of(next) >= 0) return;
      of(next) = static_cast<std::int8_t>(1 - of(x));
      x = next;
    }
  };
  // Position 0 sends to both roots, in turn: to that of tree 0 in the even rounds.
  for (const int tree : {0, 1}) of(trees.root(tree)) = 0;
  for (const int tree : {0, 1}) walk(trees.root(tree), 1 - tree);
  for (int x = 1; x <= trees.size(); ++x) {
    if (of(x) >= 0) continue;
    of(x) = 0;
    for (const int tree : {0, 1}) walk(x, tree);
  }
  return colour;
}

}  // namespace

int TwoTrees::root(int tree) const {
  if (size_ == 0) return 0;
  const auto top = static_cast<int>(
      std::bit_floor(static_cast<unsigned>(tree == 0 ? size_ : size_ + size_ % 2)));
  return tree == 0 ? top : mirrored(top);
}

InOrderNode TwoTrees::node(int tree, int position) const {
  if (tree == 0) return in_order_node(size_, position);
  const InOrderNode image = in_order_node(size_ + size_ % 2, mirrored(position));
  const auto back = [&](int at) { return at == 0 || mirrored(at) > size_ ? 0 : mirrored(at); };
  return {.parent = back(image.parent),
          .left = back(image.right),
          .right = back(image.left),
          .first = mirrored(image.last),
          .last = std::min(mirrored(image.first), size_)};
}

int TwoTrees::sibling(int tree, int position) const {
  const int parent = node(tree, position).parent;
  if (parent == 0) return 0;
  const InOrderNode above = node(tree, parent);
  return above.left == position ? above.right : above.left;
}

TwoTreeBroadcast::TwoTreeBroadcast(int size, int position, Count blocks) : blocks_(blocks) {
  if (size == 1 || blocks == 0) return;
  const TwoTrees trees(size - 1);
  const auto colour = colours(trees);
  // The round in which `to` receives the first block: the next after its parent did that has the
  // edge's colour.
  const auto first = [&](auto& self, int tree, int to) -> Count {
    if (to == 0) return -1;
    const Count earliest = self(self, tree, trees.node(tree, to).parent) + 1;
    const int parity = colour[static_cast<std::size_t>(to)] ^ tree;
    return earliest + (earliest + parity) % 2;
  };
  for (const int tree : {0, 1}) {
    if (position == 0) {
      add(sends_, {trees.root(tree), tree, first(first, tree, trees.root(tree))});
      continue;
    }
    const InOrderNode node = trees.node(tree, position);
    add(receives_, {node.parent, tree, first(first, tree, position)});
    for (const int child : {node.left, node.right})
      if (child != 0) add(sends_, {child, tree, first(first, tree, child)});
  }
}

void TwoTreeBroadcast::add(std::vector<Stream>& streams, const Stream& stream) {
  streams.push_back(stream);
  if (stream.tree >= blocks_) return;  // a single block: nothing in tree 1
  const Count last = (blocks_ - 1 - stream.tree) / 2;
  rounds_ = std::max(rounds_, stream.first + 2 * last + 1);
}

Count TwoTreeBroadcast::block(const Stream& stream, Count round) const {
  if (round < stream.first || (round - stream.first) % 2 != 0) return -1;
  const Count block = round - stream.first + stream.tree;
  return block < blocks_ ? block : -1;
}

BroadcastRound TwoTreeBroadcast::round(Count i) const {
  BroadcastRound round;
  for (const Stream& stream : sends_)
    if (const Count k = block(stream, i); k >= 0) {
      round.to = stream.peer;
      round.sent = k;
    }
  for (const Stream& stream : receives_)
    if (const Count k = block(stream, i); k >= 0) {
      round.from = stream.peer;
      round.received = k;
    }
  return round;
}

}  // namespace unisono
