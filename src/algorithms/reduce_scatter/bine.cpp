// Bine butterfly: partners at the distances 1, 1, 3, 5, 11, ... exchange halves of what they still
// hold: the long messages take the short ways, so that of an oversubscribed network they use fewer
// of the links at the top. Rounds q, bytes (p - 1) / p m; T = q alpha + (p - 1) / p (beta + gamma)
// m, and a copy of m; not a power of two: 2 rounds, m more, for folding neighbours. Scratch: two
// vectors. Commutative operations, any p. Source: De Sensi et al., Bine Trees (2025), arXiv
// 2508.17311; the order of the blocks is own.
#include "algorithms/algorithms.h"
#include "patterns/butterfly_collectives.h"

namespace unisono::reduce_scatter {

void bine(Builder& b) {
  const RankLattice line(Torus({b.size()}));
  parts_reduce_scatter(b, std::vector{Butterfly(line, RingForm::swing)});
}

}  // namespace unisono::reduce_scatter
