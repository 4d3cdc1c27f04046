// Rabenseifner: reduce-scatter by halving the vector, allgather by doubling it.
// Rounds 2 q, bytes 2 (p - 1) / p m; T = 2 q alpha + (p - 1) / p (2 beta + gamma) m; not a power of
// two: 2 (alpha + beta m) + gamma m more, for folding neighbours first. The distance between
// partners doubles as the vector halves, so that sums are always over intervals of ranks and the
// operation need not commute. Any p.
// Source: Rabenseifner, Optimization of Collective Reduction Operations (2004).
#include "algorithms/algorithms.h"
#include "patterns/accumulator.h"
#include "patterns/fold.h"
#include "patterns/partition.h"

namespace unisono::allreduce {

void rabenseifner(Builder& b) {
  const Fold fold(b.size());
  const int v = fold.position(b.rank());
  if (v < 0) {
    b.send(b.rank() - 1, b.input());
    b.recv(b.rank() - 1, b.output());
    return;
  }
  const Slice own = b.input();
  const Partition output(b.output(), fold.power);
  Accumulator sum(b, own, b.output(), true);
  if (fold.works_for_two(v)) sum.receive(b.rank() + 1, Side::right);

  int first = 0;  // the blocks [first, first + width) are still this rank's
  int width = fold.power;
  for (int bit = 1; bit < fold.power; bit *= 2) {
    const bool lower = (v & bit) == 0;
    const int peer = fold.rank(v ^ bit);
    width /= 2;
    const int given = lower ? first + width : first;
    if (!lower) first += width;
    const auto in_sum = [&](int at) {
      return Partition(sum.value(), fold.power).range(at, at + width);
    };
    const Slice kept = in_sum(first);
    b.send(peer, in_sum(given));
    sum.receive(peer, lower ? Side::right : Side::left, kept.offset - sum.value().offset,
                kept.length);
  }
  b.copy(Partition(sum.value(), fold.power).block(first), output.block(first));

  for (int bit = fold.power / 2; bit >= 1; bit /= 2, width *= 2) {
    const bool lower = (v & bit) == 0;
    const int peer = fold.rank(v ^ bit);
    const int other = lower ? first + width : first - width;
    b.send(peer, output.range(first, first + width));
    b.recv(peer, output.range(other, other + width));
    if (!lower) first = other;
  }
  if (fold.works_for_two(v)) b.send(b.rank() + 1, b.output());
}

}  // namespace unisono::allreduce
