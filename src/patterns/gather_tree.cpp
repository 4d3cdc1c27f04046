#include "patterns/gather_tree.h"

#include <ranges>

#include "patterns/partition.h"
#include "patterns/rotation.h"

namespace unisono {

namespace {

/// The run from position `from` on, in the segments that it is sent in; cut where it begins, so
/// that both sides cut alike.
std::vector<Slice> pieces(const Builder& b, const RunOf& run, int from, int to) {
  return segments(run(from, to), b.args());
}

}  // namespace

// From the own block on: the children that come next have the smallest subtrees, and are complete
// first.
void gather_tree(Builder& b, const TreeNode& node, int root, const RunOf& run) {
  const Rotation order{b.size(), root};
  for (const auto& child : node.children | std::views::reverse)
    for (const Slice piece : pieces(b, run, child.begin, child.end))
      b.recv(order.rank(child.rank), piece);
  if (node.parent >= 0)
    for (const Slice piece : pieces(b, run, node.begin, node.end))
      b.send(order.rank(node.parent), piece);
}

// From the end on: what has the longest way to go comes first.
void scatter_tree(Builder& b, const TreeNode& node, int root, const RunOf& run) {
  const Rotation order{b.size(), root};
  if (node.parent >= 0)
    for (const Slice piece : pieces(b, run, node.begin, node.end) | std::views::reverse)
      b.recv(order.rank(node.parent), piece);
  for (const auto& child : node.children)
    for (const Slice piece : pieces(b, run, child.begin, child.end) | std::views::reverse)
      b.send(order.rank(child.rank), piece);
}

}  // namespace unisono
