// Chain pipeline: rank i passes segment j on while it receives segment j + 1.
// Rounds p - 2 + n, bytes m per rank; T = (p - 2 + n)(alpha + beta m / n). Optimal in beta m, bad
// start-up for large p. Any p, any root.
// Source: Worringer, Pipelining and Overlapping for MPI Collective Operations (2003), "pcast".
#include "algorithms/algorithms.h"
#include "patterns/partition.h"

namespace unisono::bcast {

void chain(Builder& b) {
  const int p = b.size();
  const int position = (b.rank() - b.args().root + p) % p;
  const int previous = (b.rank() - 1 + p) % p;
  const int next = (b.rank() + 1) % p;
  for (const Slice segment : segments(b.output(), b.args())) {
    if (position > 0) b.recv(previous, segment);
    if (position < p - 1) b.send(next, segment);
  }
}

}  // namespace unisono::bcast
