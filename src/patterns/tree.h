// Trees over the ranks 0..p-1, with rank 0 at the top where nothing else is said.
#pragma once
#include <vector>

namespace unisono {

/// One rank of a tree whose subtrees are intervals, so that they keep rank order. Those of k-nomial
/// trees and of trees in pre-order begin with their root.
struct TreeNode {
  struct Child {
    int rank;
    int begin, end;  ///< the child's subtree is [begin, end)
  };
  int parent = -1;         ///< -1 at the top
  int begin = 0, end = 0;  ///< the own subtree is [begin, end)
  std::vector<Child> children;
};

/// k-nomial: the subtree of rank v is [v, v + span) cut at p. Children stand with the largest
/// subtree first: the order in which a broadcast should send; a reduction receives in reverse.
TreeNode knomial_node(int rank, int size, int radix);

/// A node of the balanced binary tree in pre-order: its subtree is the interval that begins with
/// it, so that a sum of subtrees in rank order is own, left, right. Depth floor(log2 size).
TreeNode preorder_node(int rank, int size);

/// Bine tree of any number of ranks, with `top` anywhere among them: a subtree [begin, end) is cut
/// in halves, and the rank that its root sends to is its own image in the mirror between them. With
/// the top at bine_top() messages go about p/3, p/6, p/12, ... ranks far instead of p/2, p/4, p/8,
/// ...: 43, 21, 11, 5, 3, 1, 1 of 128. Depth ceil(log2 p). Children stand with the largest subtree
/// first. For a power of two these are the edges of De Sensi et al., Bine Trees (2025), which takes
/// them from numbers to the base -2; intervals, and with them the other sizes, are own.
TreeNode bine_node(int rank, int size, int top);
constexpr int bine_top(int size) { return (size - 1) / 3; }

}  // namespace unisono
