// Reduce to rank 0 and broadcast, both on a binomial tree.
// Rounds 2 q of m, messages 2 (p - 1) in all; T = 2 q (alpha + beta m) + q gamma m. Fewer messages
// than recursive doubling: for short vectors with more ranks than cores. Rank order is kept: the
// operation need not commute. Any p.
// Source: textbook.
#include "algorithms/algorithms.h"
#include "patterns/phases.h"

namespace unisono::allreduce {

void reduce_bcast(Builder& b) {
  const Rotation order{b.size()};
  const Slice sum = tree_reduce(b, order, 2, b.input(), b.output());
  if (b.rank() == 0) b.copy(sum, b.output());
  tree_bcast(b, order, 2, b.output());
}

}  // namespace unisono::allreduce
