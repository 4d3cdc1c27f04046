// Chain pipeline: position i adds its part to segment j while it receives segment j + 1.
// Rounds p - 2 + n, bytes m per rank; T = (p - 2 + n)(alpha + max(beta, gamma) m / n): transfer and
// sum overlap. Scratch: `window` segments. The chain runs from the last rank to the first, so that
// order is kept; it ends at the root, or at rank 0 and one more hop if the operation does not
// commute. Any p, any root.
// Source: Worringer, Pipelining and Overlapping for MPI Collective Operations (2003), "rpipe".
#include "algorithms/algorithms.h"
#include "patterns/arrival.h"

namespace unisono::reduce {

void chain(Builder& b) {
  const Args& args = b.args();
  const Slice own = b.input();
  const Rotation order{args.size, args.commutative ? args.root : 0};
  const int position = order.position(args.rank);
  const bool last = position == args.size - 1;
  const bool into_output = position == 0 && args.is_root() && !args.in_place;
  ChainSum sums(b, into_output ? b.output() : Slice{});
  for (const Slice segment : segments(own, args)) {
    const Slice result = b.output().part(segment.offset - own.offset, segment.length);
    const Slice sum = last ? segment : sums.add(order.rank(position + 1), segment);
    if (position > 0) b.send(order.rank(position - 1), sum);
    if (position == 0 && !args.is_root()) b.send(args.root, sum);
    if (position == 0 && args.is_root()) b.copy(sum, result);
    if (position > 0 && args.is_root()) b.recv(order.rank(0), result);
  }
}

}  // namespace unisono::reduce
