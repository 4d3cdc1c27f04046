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
  node.begin = rank;
  node.end = static_cast<int>(std::min<std::int64_t>(rank + span, size));
  for (std::int64_t step = span / radix; step >= 1; step /= radix)
    for (int i = radix - 1; i >= 1; --i) {
      const std::int64_t child = rank + i * step;
      if (child < size)
        node.children.push_back({static_cast<int>(child), static_cast<int>(child),
                                 static_cast<int>(std::min<std::int64_t>(child + step, size))});
    }
  return node;
}

TreeNode preorder_node(int rank, int size) {
  TreeNode node;
  node.end = size;
  for (;;) {  // [node.begin, node.end) is the subtree that is being looked at
    const int right = node.begin + 1 + (node.end - node.begin) / 2;
    if (node.begin == rank) {
      const int left = node.begin + 1;
      if (node.end > left) node.children.push_back({left, left, right});
      if (node.end > right) node.children.push_back({right, right, node.end});
      return node;
    }
    node.parent = node.begin;
    if (rank < right) node.end = right;
    node.begin = rank < right ? node.begin + 1 : right;
  }
}

TreeNode bine_node(int rank, int size, int top) {
  TreeNode node;
  node.end = size;
  int begin = 0, end = size;  // what `top` still has to serve
  while (end - begin > 1) {
    // Of an odd number the half with the top is the larger one.
    const int half = (end - begin) / 2;
    const int middle = top < begin + half ? end - half : begin + half;
    const bool low = top < middle;
    const int image = begin + end - 1 - top;
    const int child = low ? std::max(image, middle) : std::min(image, middle - 1);
    const bool in_child = (rank < middle) != low;
    if (top == rank) {
      node.children.push_back({child, low ? middle : begin, low ? end : middle});
    } else if (in_child) {
      node.parent = top;
      top = child;
    }
    ((rank < middle) ? end : begin) = middle;
    if (in_child && top == rank) node.begin = begin, node.end = end;
  }
  return node;
}

}  // namespace unisono
