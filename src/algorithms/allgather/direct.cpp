// Direct: everyone sends its block to everyone, beginning with the next rank.
// One round of p - 1 messages, bytes (p - 1) b; T = (p - 1)(alpha + beta b) without contention. In
// the memory of a node a rank copies b in, and (p - 1) b out as the others' blocks come. Any p, any
// counts. Source: textbook.
#include "algorithms/algorithms.h"
#include "patterns/phases.h"

namespace unisono::allgather {

void direct(Builder& b) {
  b.copy(b.input(), b.output_block(b.rank()));
  direct_allgather(b, [&](int rank) { return b.output_block(rank); });
}

}  // namespace unisono::allgather
