// Ring: each rank passes on to the right the block that it has just received from the left.
// Rounds p - 1 of one block, bytes (p - 1) b; T = (p - 1)(alpha + beta b), with irregular counts
// beta times the longest block in every round. Neighbours only; blocks go where they belong.
// Any p. Source: textbook.
#include "algorithms/algorithms.h"
#include "patterns/rotation.h"

namespace unisono::allgather {

void ring(Builder& b) {
  const Rotation ring{b.size()};
  const int left = ring.wrap(b.rank() - 1);
  const int right = ring.wrap(b.rank() + 1);
  b.copy(b.input(), b.output_block(b.rank()));
  for (int i = 0; i < b.size() - 1; ++i) {
    b.send(right, b.output_block(ring.wrap(b.rank() - i)));
    b.recv(left, b.output_block(ring.wrap(left - i)));
  }
}

}  // namespace unisono::allgather
