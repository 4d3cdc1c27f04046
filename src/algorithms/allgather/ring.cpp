// Ring: each rank passes on to the right the block that it has just received from the left.
// Rounds p - 1 of one block, bytes (p - 1) b; T = (p - 1)(alpha + beta b), with irregular counts
// beta times the longest block in every round. Neighbours only; blocks go where they belong, in
// segments, so that a long one is passed on while it comes. Any p. Source: textbook.
#include "algorithms/algorithms.h"
#include "patterns/partition.h"
#include "patterns/rotation.h"

namespace unisono::allgather {

void ring(Builder& b) {
  const Rotation ring{b.size()};
  const int left = ring.wrap(b.rank() - 1);
  const int right = ring.wrap(b.rank() + 1);
  b.copy(b.input(), b.output_block(b.rank()));
  for (int i = 0; i < b.size() - 1; ++i) {
    for (const Slice segment : segments(b.output_block(ring.wrap(b.rank() - i)), b.args()))
      b.send(right, segment);
    for (const Slice segment : segments(b.output_block(ring.wrap(left - i)), b.args()))
      b.recv(left, segment);
  }
}

}  // namespace unisono::allgather
