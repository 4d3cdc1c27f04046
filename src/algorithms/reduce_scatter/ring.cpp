// Ring: every block goes round once and collects the contributions, ending where it belongs.
// Rounds p - 1 of one block, bytes (p - 1) / p m; T = (p - 1) alpha + (p - 1) / p (beta + gamma) m;
// with segments shorter than a block gamma hides behind beta. Neighbours only. Irregular counts
// cost the longest block in every round. Commutative operations, any p. Scratch: two blocks.
// Source: textbook.
#include "algorithms/algorithms.h"
#include "patterns/phases.h"

namespace unisono::reduce_scatter {

void ring(Builder& b) {
  ring_reduce_scatter(b, {b.size()}, Partition(b.input(), b.args().recv, b.size()), b.output());
}

}  // namespace unisono::reduce_scatter
