// Read all: every rank reads everyone's vector at once and adds them up in pairs.
// One round of p - 1 messages, bytes (p - 1) m; T = alpha + (p - 1)(beta + gamma) m. Memory for p
// vectors. The model of how a node's ranks reduce short vectors: each posts its own, and all read
// them where they are: one step where slices take two. All ranks add in the same order and so get
// the same bits. Any p. Source: textbook.
#include "algorithms/algorithms.h"
#include "patterns/phases.h"

namespace unisono::allreduce {

void read_all(Builder& b) {
  const Rotation from_here{b.size(), b.rank()};
  for (int i = 1; i < b.size(); ++i) b.send(from_here.rank(i), b.input());
  b.copy(sum_of_received(b, b.input()), b.output());
}

}  // namespace unisono::allreduce
