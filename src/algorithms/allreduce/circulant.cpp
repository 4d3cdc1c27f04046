// Circulant: reduce-scatter and allgather on a graph with about halving skips.
// Rounds 2 q, bytes 2 (p - 1) / p m; T = 2 q alpha + (p - 1) / p (2 beta + gamma) m: the fewest
// rounds and bytes together that are known, for any p and without folding. Scratch: 3/4 of a
// vector. Commutative operations (the order is cyclic). Source: Traeff, Optimal, Non-pipelined
// Reduce-scatter and Allreduce Algorithms (2024), arXiv 2410.14234.
#include "algorithms/algorithms.h"
#include "patterns/phases.h"

namespace unisono::allreduce {

void circulant(Builder& b) {
  const Rotation order{b.size()};
  const Partition output(b.output(), order.size);
  const Slice sum = circulant_reduce_scatter(b, order, Partition(b.input(), order.size));
  b.copy(sum, output.block(b.rank()));
  circulant_allgather(b, order, output);
}

}  // namespace unisono::allreduce
