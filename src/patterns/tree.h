// Trees over the ranks 0..p-1 with rank 0 at the top.
#pragma once
#include <vector>

namespace unisono {

/// One rank of a tree whose subtrees are intervals that begin with their root, so that they keep
/// rank order.
struct TreeNode {
  struct Child {
    int rank;
    int end;  ///< the child's subtree is [rank, end)
  };
  int parent = -1;  ///< -1 at the top
  int end = 0;      ///< the own subtree is [rank, end)
  std::vector<Child> children;
};

/// k-nomial: the subtree of rank v is [v, v + span) cut at p. Children stand with the largest
/// subtree first: the order in which a broadcast should send; a reduction receives in reverse.
TreeNode knomial_node(int rank, int size, int radix);

/// A node of the balanced binary tree in pre-order: its subtree is the interval that begins with
/// it, so that a sum of subtrees in rank order is own, left, right. Depth floor(log2 size).
TreeNode preorder_node(int rank, int size);

}  // namespace unisono
