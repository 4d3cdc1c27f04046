// Direct: everyone sends every block to its owner, which adds them up in pairs.
// One round of p - 1 messages, bytes (p - 1) / p m; T = (p - 1) alpha + (p - 1) / p (beta + gamma)
// m without contention. Scratch: a vector. In one order whatever the size: the operation need not
// commute, and the result has the same bits in every run. Any p, any counts. Source: textbook.
#include "algorithms/algorithms.h"
#include "patterns/phases.h"

namespace unisono::reduce_scatter {

void direct(Builder& b) {
  const Partition input(b.input(), b.args().recv, b.size());
  b.copy(direct_reduce_scatter(b, input), b.output());
}

}  // namespace unisono::reduce_scatter
