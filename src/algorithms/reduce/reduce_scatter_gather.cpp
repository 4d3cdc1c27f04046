// Reduce-scatter and gather: every rank sums one block, a binomial tree brings them to the root.
// Rounds 2 q, bytes 2 (p - 1) / p m; T = 2 q alpha + (p - 1) / p (2 beta + gamma) m: the work of
// the sum is shared by all ranks, unlike in trees. For long vectors. The circulant reduce-scatter
// takes any p without folding. Commutative operations, any p, any root. Source: Rabenseifner,
// Optimization of Collective Reduction Operations (2004); reduce-scatter: Traeff (2024), arXiv
// 2410.14234.
#include "algorithms/algorithms.h"
#include "patterns/gather_tree.h"
#include "patterns/phases.h"

namespace unisono::reduce {

void reduce_scatter_gather(Builder& b) {
  const Args& args = b.args();
  const Rotation order{args.size, args.root};
  const int position = order.position(args.rank);
  const TreeNode node = knomial_node(position, args.size, 2);
  const Partition input(b.input(), args.size);
  const Slice sum = circulant_reduce_scatter(b, order, input);
  if (node.children.empty() && !args.is_root()) {
    b.send(order.rank(node.parent), sum);
    return;
  }
  const Slice home =
      args.is_root() ? b.output() : b.scratch(input.range(position, node.end).length);
  const Partition blocks = input.from(position, home);
  b.copy(sum, blocks.block(position));
  gather_tree(b, node, order.root, [&](int from, int to) { return blocks.range(from, to); });
}

}  // namespace unisono::reduce
