// Bucket: rings along the dimensions of a torus, one dimension after the other. 2k reduce-scatters
// and allgathers, beginning with each of k dimensions and going each way round, go on at once on a
// 2k-th of the vector each, and so use all links, neighbours only.
// Rounds 2 sum(n_i - 1), bytes 2 (p - 1) / p m; T = 2 sum(n_i - 1) alpha + (p - 1) / p (2 beta +
// gamma) m / 2k with dimensions of one length: optimal. For long vectors. Commutative operations,
// any p. Source: Jain, Sabharwal, Optimal Bucket Algorithms for Large MPI Collectives on Torus
// Interconnects (2010).
#include "algorithms/algorithms.h"
#include "algorithms/lattice_of_ranks.h"
#include "patterns/butterfly_collectives.h"

namespace unisono::allreduce {

void bucket(Builder& b) {
  const RankLattice lattice = lattice_of_ranks(b.args());
  parts_allreduce(b, on_all_links(lattice, RingForm::whole));
}

}  // namespace unisono::allreduce
