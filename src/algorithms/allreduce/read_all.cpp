// Read all: every rank reads everyone's vector at once and adds them up in rank order.
// One round of p - 1 messages, bytes (p - 1) m; T = alpha + (p - 1)(beta + gamma) m. Memory for p
// vectors. The model of how a node's ranks reduce short vectors: each posts its own, and all read
// them where they are: one step where slices take two. All ranks add in the same order and so get
// the same bits. Any p. Source: textbook.
#include "algorithms/algorithms.h"

namespace unisono::allreduce {

void read_all(Builder& b) {
  const Args& args = b.args();
  const Count m = args.count;
  const Slice vectors = b.scratch(m * args.size);
  for (int i = 1; i < args.size; ++i) b.send((args.rank + i) % args.size, b.input());
  for (int i = 0; i < args.size; ++i) {
    const Slice vector = vectors.part(m * i, m);
    if (i == args.rank)
      b.copy(b.input(), vector);
    else
      b.recv(i, vector);
    if (i > 0) b.reduce(vectors.part(m * (i - 1), m), vector);
  }
  b.copy(vectors.part(m * (args.size - 1), m), b.output());
}

}  // namespace unisono::allreduce
