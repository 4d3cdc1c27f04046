// Bine butterflies: reduce-scatter and allgather, or whole vectors, between ranks at the distances
// 1, 1, 3, 5, 11, ... instead of 1, 2, 4, 8, 16: a sum goes less far, so that of an oversubscribed
// network it uses fewer of the links at the top. Long messages take the short ways.
// `bine`: rounds 2 q, bytes 2 (p - 1) / p m; T = 2 q alpha + (p - 1) / p (2 beta + gamma) m.
// `bine_whole`: rounds q of m; T = q (alpha + (beta + gamma) m), for short vectors.
// Not a power of two: 2 rounds and 2 m more, for folding neighbours. Commutative operations, any p.
// Source: De Sensi et al., Bine Trees (2025), arXiv 2508.17311; the order of the blocks, and the
// order of the steps of `bine_whole`, by which all ranks get the same bits, are own.
#include "algorithms/algorithms.h"
#include "patterns/butterfly_collectives.h"

namespace unisono::allreduce {

void bine(Builder& b) {
  const RankLattice line(Torus({b.size()}));
  parts_allreduce(b, std::vector{Butterfly(line, RingForm::swing)});
}

void bine_whole(Builder& b) {
  const RankLattice line(Torus({b.size()}));
  whole_allreduce(b, std::vector{Butterfly(line, RingForm::swing)});
}

}  // namespace unisono::allreduce
