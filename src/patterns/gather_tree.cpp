#include "patterns/gather_tree.h"

#include <ranges>

#include "patterns/rotation.h"

namespace unisono {

void gather_tree(Builder& b, const TreeNode& node, int root, const RunOf& run) {
  const Rotation order{b.size(), root};
  for (const auto& child : node.children | std::views::reverse)
    b.recv(order.rank(child.rank), run(child.rank, child.end));
  if (node.parent >= 0) b.send(order.rank(node.parent), run(order.position(b.rank()), node.end));
}

void scatter_tree(Builder& b, const TreeNode& node, int root, const RunOf& run) {
  const Rotation order{b.size(), root};
  if (node.parent >= 0) b.recv(order.rank(node.parent), run(order.position(b.rank()), node.end));
  for (const auto& child : node.children)
    b.send(order.rank(child.rank), run(child.rank, child.end));
}

}  // namespace unisono
