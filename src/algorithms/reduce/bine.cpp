// Bine tree: the broadcast tree backwards.
// Rounds q, q m bytes at the root; T = q (alpha + (beta + gamma) m). For short vectors where ranks
// with near numbers are near to each other. Any p, any root. Subtrees are intervals: an operation
// that does not commute is summed up in rank order, on a tree over ranks 0 .. p - 1 that has the
// root where it is; no hop more, as a binomial tree needs, but longer ways.
// Source: De Sensi et al., Bine Trees (2025), arXiv 2508.17311; other sizes, rank order: own.
#include "algorithms/algorithms.h"
#include "patterns/phases.h"

namespace unisono::reduce {

void bine(Builder& b) {
  const Args& args = b.args();
  const int top = args.commutative ? bine_top(args.size) : args.root;
  const Rotation order = Rotation::around(args.size, args.root, top);
  const TreeNode node = bine_node(order.position(args.rank), args.size, top);
  const Slice sum = tree_reduce(b, order, node, b.input(), args.is_root() ? b.output() : Slice{});
  if (args.is_root()) b.copy(sum, b.output());
}

}  // namespace unisono::reduce
