// Trivance: on a ring each rank exchanges with two others at once, one on either side, and adds
// both their sums to its own: a sum triples. On a torus the dimensions take turns; k exchanges,
// beginning with each of k dimensions, go on at once on a k-th of the vector each.
// `trivance_whole`: ceil(log3 n_i) rounds a dimension of 2 m both ways together, any n_i without
// folding (class_sums.h); for short vectors. `trivance`: reduce-scatter and allgather, in thirds:
// 2 log3 p rounds, 2 (p - 1) / p m; a dimension that is not 3^a 2^b folds neighbours first, 2
// rounds and 2 m more, and takes its factors 2 in halves. Commutative operations, any p. Source:
// the idea and the distances 3^s: abstract of Juerss, Addanki, Schmid, Trivance (2026), arXiv
// 2602.17254. Derived here: the long distances first, by classes, so that all ranks get the same
// bits; sizes that are not 3^s; the form in thirds.
#include "algorithms/algorithms.h"
#include "algorithms/lattice_of_ranks.h"
#include "patterns/butterfly_collectives.h"
#include "patterns/class_sums.h"

namespace unisono::allreduce {

void trivance(Builder& b) {
  const RankLattice lattice = lattice_of_ranks(b.args());
  parts_allreduce(b, on_all_dimensions(lattice, RingForm::thirds));
}

void trivance_whole(Builder& b) {
  const RankLattice lattice = lattice_of_ranks(b.args());
  std::vector<std::vector<WholeExchange>> steps;
  for (int d = 0; d < lattice.dimensions(); ++d) steps.push_back(class_sums(lattice, b.rank(), d));
  whole_allreduce(b, steps);
}

}  // namespace unisono::allreduce
