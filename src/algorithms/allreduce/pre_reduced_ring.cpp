// Pre-reduced ring: the early ranks are through with the reducing half of the ring when the late
// ones arrive; these add their parts, and the sums go once round the ring of all ranks.
// Rounds e - 1 + n + 2 p, bytes 3 m per rank for e early ranks; after the last arrival about
// n + n / e + p rounds of m / n are left, next to 2 (p - 1) of m / p of a ring. The sums go from
// the latest to the earliest: a rank has handed over its block before those come that it passes on.
// Scratch: two blocks. Commutative operations (the order is cyclic, then that of arrival), any p.
// Right whoever is late. One rank has the sum: the same bits for all. Source: after the idea of
// Proficz, Improving All-reduce Collective Operations for Imbalanced Process Arrival Patterns
// (2018), "pre-reduced ring"; the steps are our own.
#include "algorithms/algorithms.h"
#include "patterns/arrival.h"
#include "patterns/phases.h"

namespace unisono::allreduce {

void pre_reduced_ring(Builder& b) {
  const ArrivalOrder order(b.args());
  if (b.size() == 1) return void(b.copy(b.input(), b.output()));
  const Rotation early = order.early();
  const auto all = pieces(b, order);
  if (!order.is_late(b.rank())) {
    const int v = early.position(b.rank());
    const Slice sum = Partition(b.output(), early.size).block(v);
    ring_reduce_scatter(b, early, Partition(b.input(), early.size), sum);
    for (const Slice segment : segments(sum, b.args())) b.send(order.late().front(), segment);
  }
  add_late(b, order, all,
           [&](int i) { return early.rank(all[static_cast<std::size_t>(i)].early); });

  const int from = order.after(b.rank());
  const int to = order.before(b.rank());
  for (const Piece& piece : all) {
    if (from >= 0) b.recv(from, piece.output);
    if (to >= 0) b.send(to, piece.output);
  }
}

}  // namespace unisono::allreduce
