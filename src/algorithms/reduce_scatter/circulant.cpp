// Circulant: each of q rounds hands on about half of the blocks still held.
// Rounds q, bytes (p - 1) / p m; T = q alpha + (p - 1) / p (beta + gamma) m: both bounds at once,
// for any p and without folding. Scratch: 3/4 of a vector. Commutative operations (the order is
// cyclic). Source: Traeff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms (2024),
// arXiv 2410.14234.
#include "algorithms/algorithms.h"
#include "patterns/phases.h"

namespace unisono::reduce_scatter {

void circulant(Builder& b) {
  const Partition input(b.input(), b.args().recv, b.size());
  b.copy(circulant_reduce_scatter(b, {b.size()}, input), b.output());
}

}  // namespace unisono::reduce_scatter
