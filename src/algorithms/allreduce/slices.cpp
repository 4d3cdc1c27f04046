// Slices: every rank adds up one slice of the vector, of all ranks, in pairs, and sends the sum
// to everyone. Two rounds of p - 1 messages, bytes 2 (p - 1) / p m; T = 2 (p - 1) alpha + (p -
// 1) / p (2 beta + gamma) m. In the memory of a node: one pass over m, p loads and a store.
// Scratch: a vector. In one order whatever the size: the operation need not commute, and every
// rank gets the same bits. Any p. Source: data partitioning
// (Bayatpour et al. 2017, DPML).
#include "algorithms/algorithms.h"
#include "patterns/phases.h"

namespace unisono::allreduce {

void slices(Builder& b) {
  const Slice sum = direct_reduce_scatter(b, Partition(b.input(), b.size()));
  const Partition output(b.output(), b.size());
  b.copy(sum, output.block(b.rank()));
  direct_allgather(b, [&](int rank) { return output.block(rank); });
}

}  // namespace unisono::allreduce
