// Bucket: rings along the dimensions of a torus, one dimension after the other: the blocks of a row
// of ranks go round it and are summed up, then those of a column. 2k of these, beginning with each
// of k dimensions and going each way round, go on at once with a 2k-th of every block, and so use
// all links, neighbours only. Rounds sum(n_i - 1), bytes (p - 1) / p m; T = sum(n_i - 1) alpha + (p
// - 1) / p (beta + gamma) m / 2k with dimensions of one length: optimal; and a copy of m.
// Commutative operations, any p. Source: Jain, Sabharwal, Optimal Bucket Algorithms for Large MPI
// Collectives on Torus Interconnects (2010).
#include "algorithms/algorithms.h"
#include "algorithms/lattice_of_ranks.h"
#include "patterns/butterfly_collectives.h"

namespace unisono::reduce_scatter {

void bucket(Builder& b) {
  const RankLattice lattice = lattice_of_ranks(b.args());
  parts_reduce_scatter(b, on_all_links(lattice, RingForm::whole));
}

}  // namespace unisono::reduce_scatter
