// Dissemination: in round k rank r tells r + 2^k that the 2^k ranks up to r have arrived.
// Rounds q; T = q alpha, the optimum. p messages a round: with more ranks than cores every rank
// waits q times; see tree. Any p.
// Source: Hensgen, Finkel, Manber, Two Algorithms for Barrier Synchronization (1988).
#include <cstdint>

#include "algorithms/algorithms.h"

namespace unisono::barrier {

void dissemination(Builder& b) {
  const std::int64_t p = b.size();
  for (std::int64_t distance = 1; distance < p; distance *= 2) {
    b.send_token(static_cast<int>((b.rank() + distance) % p));
    b.recv_token(static_cast<int>((b.rank() - distance + p) % p));
    b.end_round();
  }
}

}  // namespace unisono::barrier
