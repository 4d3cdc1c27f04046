#include "patterns/tree.h"

#include <algorithm>
#include <cstdint>

namespace unisono {

TreeNode knomial_node(int rank, int size, int radix) {
  TreeNode node;
  // `span`: the largest power of radix that divides rank; the whole range for rank 0.
  std::int64_t span = 1;
  while (span < size && rank % (span * radix) == 0) span *= radix;
  if (rank != 0) node.parent = static_cast<int>(rank - rank % (span * radix));
  node.end = static_cast<int>(std::min<std::int64_t>(rank + span, size));
  for (std::int64_t step = span / radix; step >= 1; step /= radix)
    for (int i = radix - 1; i >= 1; --i) {
      const std::int64_t child = rank + i * step;
      if (child < size)
        node.children.push_back({static_cast<int>(child),
                                 static_cast<int>(std::min<std::int64_t>(child + step, size))});
    }
  return node;
}

TreeNode preorder_node(int rank, int size) {
  TreeNode node;
  int begin = 0;  // of the subtree that is being looked at; it ends at node.end
  node.end = size;
  for (;;) {
    const int right = begin + 1 + (node.end - begin) / 2;
    if (begin == rank) {
      if (node.end > begin + 1) node.children.push_back({begin + 1, right});
      if (node.end > right) node.children.push_back({right, node.end});
      return node;
    }
    node.parent = begin;
    if (rank < right) node.end = right;
    begin = rank < right ? begin + 1 : right;
  }
}

}  // namespace unisono
