// Circulant n-block broadcast: every rank sends one segment and receives one in every round.
// Rounds n - 1 + q, the optimum for n segments, bytes m per rank; T = (n - 1 + q)(alpha + beta
// m/n), at the best n (sqrt((q - 1) alpha) + sqrt(beta m))^2. The first choice for long messages at
// any p: the bandwidth of the chain with the start-up of a tree. Any p, any root. Source: Traeff,
// (Poly)Logarithmic Time Construction of Round-optimal n-Block Broadcast Schedules (2022); arXiv
// 2407.18004.
#include "algorithms/algorithms.h"
#include "patterns/partition.h"
#include "patterns/phases.h"

namespace unisono::bcast {

void circulant(Builder& b) {
  circulant_bcast(b, {b.size(), b.args().root}, segments(b.output(), b.args()));
}

}  // namespace unisono::bcast
