// Circulant graph: a rank holds the blocks of the s ranks from itself on and gets up to s more from
// rank + s, with s such that it ends at p: the halvings of p, rounded up, in reverse.
// Rounds q, bytes (p - 1) b, both optimal; T = q alpha + (p - 1) beta b. Unlike Bruck no copy at
// the end: blocks travel from and to where they belong, in two messages where a run passes rank
// p - 1 (at most 2 q - 1 in all). Any p, any counts.
// Source: Traeff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms (2024).
#include "algorithms/algorithms.h"
#include "patterns/blocks.h"
#include "patterns/phases.h"

namespace unisono::allgather {

void circulant(Builder& b) {
  const Rotation order{b.size()};
  GatheredOutput output(b, order);
  circulant_allgather(b, order, output.partition());
  output.finish();
}

}  // namespace unisono::allgather
