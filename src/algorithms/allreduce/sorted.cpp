// Sorted: a chain in the predicted order of arrival brings the sum to the last rank, and a chain
// from there, the earliest first, takes it to everyone.
// Rounds 2 (p - 1) + 2 n, bytes 2 m per rank; after the last arrival n + p - 1 rounds of m / n are
// left: m instead of the 2 m of a ring, for long vectors. The rank before the last is the end of
// the second chain, for it is busy sending the sum. Scratch: in place, `window` segments.
// Commutative operations (the order is that of arrival), any p. Right whoever is late. One rank has
// the sum: the same bits for all. Source: Proficz, Improving All-reduce Collective Operations for
// Imbalanced Process Arrival Patterns (2018), "sorted linear tree".
#include "algorithms/algorithms.h"
#include "patterns/arrival.h"

namespace unisono::allreduce {

void sorted(Builder& b) {
  const Args& args = b.args();
  const ArrivalOrder order(args);
  const int from = order.before(b.rank());
  const int to = order.after(b.rank());
  const Slice own = b.input();
  ChainSum sums(b, args.in_place ? Slice{} : b.output());
  for (const Slice segment : segments(own, args)) {
    const Slice sum = from < 0 ? segment : sums.add(from, segment);
    if (to >= 0) {
      b.send(to, sum);
    } else {
      b.copy(sum, b.output().part(segment.offset - own.offset, segment.length));
    }
  }

  const int last = order.last();
  const int next = b.rank() == last ? order.rank(0) : order.after(b.rank(), last);
  for (const Slice segment : segments(b.output(), args)) {
    if (b.rank() != last) b.recv(from < 0 ? last : from, segment);
    if (next >= 0 && next != last) b.send(next, segment);
  }
}

}  // namespace unisono::allreduce
