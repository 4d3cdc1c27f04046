// Recursive halving: partners at distance p/2, p/4, ... exchange halves of what they still hold.
// Rounds q, bytes (p - 1) / p m; T = q alpha + (p - 1) / p (beta + gamma) m; not a power of two: 2
// alpha
// + (beta + gamma) m more, for folding neighbours first. Exchanges are symmetric: one connection a
// round. Scratch: two vectors. Commutative operations, any p.
// Source: textbook; Thakur, Rabenseifner, Gropp (2005).
#include "algorithms/algorithms.h"
#include "patterns/accumulator.h"
#include "patterns/fold.h"
#include "patterns/partition.h"

namespace unisono::reduce_scatter {

void recursive_halving(Builder& b) {
  const Slice own = b.input();
  const Partition input(own, b.args().recv, b.size());
  const Fold fold(b.size());
  const int v = fold.position(b.rank());
  if (v < 0) {
    b.send(b.rank() - 1, own);
    b.recv(b.rank() - 1, b.output());
    return;
  }
  Accumulator sum(b, own, {}, false);
  if (fold.works_for_two(v)) sum.receive(b.rank() + 1, Side::right);
  int first = 0;  // positions [first, first + 2 bit) are still this rank's
  for (int bit = fold.power / 2; bit >= 1; bit /= 2) {
    const int peer = fold.rank(v ^ bit);
    const auto in_sum = [&](int at) {
      return input.in(sum.value()).range(fold.rank(at), fold.rank(at + bit));
    };
    const int given = v & bit ? first : first + bit;
    if (v & bit) first += bit;
    const Slice kept = in_sum(first);
    b.send(peer, in_sum(given));
    sum.receive(peer, Side::right, kept.offset - sum.value().offset, kept.length);
  }
  const Partition result = input.in(sum.value());
  if (fold.works_for_two(v)) b.send(b.rank() + 1, result.block(b.rank() + 1));
  b.copy(result.block(b.rank()), b.output());
}

}  // namespace unisono::reduce_scatter
