// Swing: partners exchange halves of what they still hold, on a ring at the distances 1, 1, 3, 5,
// 11,
// ..., on a torus with the dimensions in turn. 2k such reduce-scatters, beginning with each of k
// dimensions and mirrored, go on at once with a 2k-th of every block, and so use all links.
// Rounds q, bytes (p - 1) / p m; T = q alpha + c (p - 1) / p (beta + gamma) m / 2k (c: see
// allreduce/swing.cpp), and a copy of m. A dimension that is no power of two: 2 rounds, m more, for
// folding neighbours. Commutative operations, any p.
// Source: De Sensi et al., Swing (2024); the order of the blocks is own.
#include "algorithms/algorithms.h"
#include "algorithms/lattice_of_ranks.h"
#include "patterns/butterfly_collectives.h"

namespace unisono::reduce_scatter {

void swing(Builder& b) {
  const RankLattice lattice = lattice_of_ranks(b.args());
  parts_reduce_scatter(b, on_all_links(lattice, RingForm::swing));
}

}  // namespace unisono::reduce_scatter
