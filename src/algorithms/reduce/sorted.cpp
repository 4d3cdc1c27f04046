// Sorted: a chain in the predicted order of arrival, which ends with the late ranks and the root.
// Rounds p - 2 + n, bytes m per rank; T = (p - 2 + n)(alpha + max(beta, gamma) m / n). The early
// ranks add up while the late ones are away: after the last arrival n + 1 rounds are left where a
// tree needs up to q of m. Scratch: `window` segments. Commutative operations (the order is that of
// arrival), any p, any root. Right whoever is late.
// Source: Proficz, Improving All-reduce Collective Operations for Imbalanced Process Arrival
// Patterns (2018), "sorted linear tree", its first half.
#include "algorithms/algorithms.h"
#include "patterns/arrival.h"

namespace unisono::reduce {

void sorted(Builder& b) {
  const Args& args = b.args();
  const ArrivalOrder order(args);
  const Slice own = b.input();
  const int before_root = args.root == order.last() ? order.before(args.root) : order.last();
  const int from = args.is_root() ? before_root : order.before(b.rank(), args.root);
  const int next = args.is_root() ? -1 : order.after(b.rank(), args.root);
  ChainSum sums(b, args.is_root() && !args.in_place ? b.output() : Slice{});
  for (const Slice segment : segments(own, args)) {
    const Slice sum = from < 0 ? segment : sums.add(from, segment);
    if (args.is_root()) {
      b.copy(sum, b.output().part(segment.offset - own.offset, segment.length));
    } else {
      b.send(next < 0 ? args.root : next, sum);
    }
  }
}

}  // namespace unisono::reduce
