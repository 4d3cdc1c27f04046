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

}  // namespace unisono
