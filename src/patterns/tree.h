// k-nomial trees over the ranks 0..p-1 with rank 0 at the top.
#pragma once
#include <vector>

namespace unisono {

/// One rank of a k-nomial tree. The subtree of rank v is the interval [v, v + span) cut at p, so
/// subtrees keep rank order. Children stand with the largest subtree first: the order in which a
/// broadcast should send; a reduction receives in reverse.
struct TreeNode {
  struct Child {
    int rank;
    int end;  ///< the child's subtree is [rank, end)
  };
  int parent = -1;  ///< -1 at the top
  int end = 0;      ///< the own subtree is [rank, end)
  std::vector<Child> children;
};

TreeNode knomial_node(int rank, int size, int radix);

}  // namespace unisono
