// Bine butterfly: in each round what a rank has doubles, from ranks at the distances ..., 11, 5, 3,
// 1, 1: the long messages take the short ways, so that of an oversubscribed network they use fewer
// of the links at the top. Rounds q, bytes (p - 1) b; T = q alpha + (p - 1) beta b, and two copies
// of the result; not a power of two: 2 rounds, p b more, for folding neighbours. Any p. Source: De
// Sensi et al., Bine Trees (2025), arXiv 2508.17311; the order of the blocks is own.
#include "algorithms/algorithms.h"
#include "patterns/butterfly_collectives.h"

namespace unisono::allgather {

void bine(Builder& b) {
  const RankLattice line(Torus({b.size()}));
  parts_allgather(b, std::vector{Butterfly(line, RingForm::swing)});
}

}  // namespace unisono::allgather
