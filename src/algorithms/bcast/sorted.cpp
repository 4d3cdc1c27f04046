// Sorted: a chain from the root in the predicted order of arrival, so that nobody waits for a rank
// that comes later than itself.
// Rounds p - 2 + n, bytes m per rank; T = (p - 2 + n)(alpha + beta m / n). After the last arrival n
// rounds are left, and only for the last rank. Any p, any root. Right whoever is late.
// Source: own; the order as in Proficz 2018, the chain as in Patarasuk, Yuan, Efficient MPI_Bcast
// across Different Process Arrival Patterns (2008).
#include "algorithms/algorithms.h"
#include "patterns/arrival.h"

namespace unisono::bcast {

void sorted(Builder& b) {
  const Args& args = b.args();
  const ArrivalOrder order(args);
  const int first = order.rank(0) == args.root ? order.after(args.root) : order.rank(0);
  const int before = args.is_root() ? -1 : order.before(b.rank(), args.root);
  const int next = args.is_root() ? first : order.after(b.rank(), args.root);
  for (const Slice segment : segments(b.output(), args)) {
    if (!args.is_root()) b.recv(before < 0 ? args.root : before, segment);
    if (next >= 0) b.send(next, segment);
  }
}

}  // namespace unisono::bcast
