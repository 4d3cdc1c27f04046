// Swing: on a ring partners at the distances 1, 1, 3, 5, 11, ... exchange, to the right and to the
// left in turn; on a torus the dimensions take turns. 2k such exchanges, beginning with each of k
// dimensions and mirrored, go on at once on a 2k-th of the vector each, and so use all links.
// `swing`: rounds 2 q, bytes 2 (p - 1) / p m; T = 2 q alpha + c (p - 1) / p (2 beta + gamma) m /
// 2k, where c > 1 is what messages over several links cost others: 1.19 in two dimensions, in the
// paper. `swing_whole`: rounds q of m, for short vectors. A dimension that is no power of two: 2
// rounds and 2 m more, for folding neighbours; the paper does without for even ones. Commutative
// operations, any p. Source: De Sensi et al., Swing: Short-cutting Rings for Higher Bandwidth
// Allreduce (2024); the order of the blocks, and that of the steps of `swing_whole`, by which all
// ranks get the same bits: own.
#include "algorithms/algorithms.h"
#include "algorithms/lattice_of_ranks.h"
#include "patterns/butterfly_collectives.h"

namespace unisono::allreduce {

void swing(Builder& b) {
  const RankLattice lattice = lattice_of_ranks(b.args());
  parts_allreduce(b, on_all_links(lattice, RingForm::swing));
}

void swing_whole(Builder& b) {
  const RankLattice lattice = lattice_of_ranks(b.args());
  whole_allreduce(b, on_all_links(lattice, RingForm::swing));
}

}  // namespace unisono::allreduce
