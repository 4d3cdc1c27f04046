// Recursive doubling: in round k ranks at distance 2^k exchange their sums.
// Rounds q for a power of two, else floor(log2 p) + 2 (neighbours are folded first); bytes m a
// round; T = q (alpha + (beta + gamma) m). For short vectors. Both partners add lower + upper
// ranks: the results are the same bit for bit, and the operation need not commute. Any p. Source:
// textbook; Thakur, Rabenseifner, Gropp (2005).
#include "algorithms/algorithms.h"
#include "patterns/accumulator.h"
#include "patterns/fold.h"

namespace unisono::allreduce {

void recursive_doubling(Builder& b) {
  const Fold fold(b.size());
  const int v = fold.position(b.rank());
  if (v < 0) {
    b.send(b.rank() - 1, b.input());
    b.recv(b.rank() - 1, b.output());
    return;
  }
  Accumulator sum(b, b.input(), b.output(), true);
  if (fold.works_for_two(v)) sum.receive(b.rank() + 1, Side::right);
  for (int bit = 1; bit < fold.power; bit *= 2) {
    const int peer = fold.rank(v ^ bit);
    b.send(peer, sum.value());
    sum.receive(peer, v & bit ? Side::left : Side::right);
  }
  b.copy(sum.value(), b.output());
  if (fold.works_for_two(v)) b.send(b.rank() + 1, b.output());
}

}  // namespace unisono::allreduce
