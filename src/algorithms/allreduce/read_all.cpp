// Read all: every rank reads everyone's vector at once and adds them up in rank order.
// One round of p - 1 messages, bytes (p - 1) m; T = alpha + (p - 1)(beta + gamma) m. Memory for p
// vectors. The model of how a node's ranks reduce short vectors: each posts its own, and all read
// them where they are: one step where slices take two. Any p. Source: textbook.
#include "algorithms/algorithms.h"
#include "patterns/accumulator.h"

namespace unisono::allreduce {

void read_all(Builder& b) {
  const Args& args = b.args();
  for (int i = 1; i < args.size; ++i) b.send((args.rank + i) % args.size, b.input());
  Accumulator sum(b, b.input(), b.output(), !args.commutative, args.size);
  for (int i = args.rank + 1; i < args.size; ++i) sum.receive(i, Side::right);
  for (int i = args.rank - 1; i >= 0; --i) sum.receive(i, Side::left);
  b.copy(sum.value(), b.output());
}

}  // namespace unisono::allreduce
