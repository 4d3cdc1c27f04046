// Ring: p blocks go round once to be summed and once more to be handed out.
// Rounds 2 (p - 1), bytes 2 (p - 1) / p m; T = 2 (p - 1) alpha + (p - 1) / p (2 beta + gamma) m;
// with segments shorter than a block gamma hides behind beta. Optimal in bytes; neighbours only.
// For long vectors and moderate p. Commutative operations, any p. Scratch: two blocks. Source:
// Patarasuk, Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters (2009).
#include "algorithms/algorithms.h"
#include "patterns/phases.h"

namespace unisono::allreduce {

void ring(Builder& b) {
  const Partition output(b.output(), b.size());
  const Rotation ring{b.size()};
  ring_reduce_scatter(b, ring, Partition(b.input(), b.size()), output.block(b.rank()));
  ring_allgather(b, ring, output);
}

}  // namespace unisono::allreduce
