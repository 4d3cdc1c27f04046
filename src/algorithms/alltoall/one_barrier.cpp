// Ring and pair with one barrier: nobody begins before everybody has arrived.
// Rounds q and p - 1, bytes (p - 1) b; T = q alpha + (p - 1)(alpha + beta b). The phases then keep
// in step by themselves, at the price of waiting for the last one: for imbalances that are small
// but not none. Pair: p a power of two.
// Source: Faraj, Patarasuk, Yuan, A Study of Process Arrival Patterns (2008), "one MPI barrier";
// the barrier: dissemination.
#include "algorithms/algorithms.h"

namespace unisono::alltoall {

void ring_barrier(Builder& b) {
  barrier::dissemination(b);
  ring(b);
}

void pair_barrier(Builder& b) {
  barrier::dissemination(b);
  pair(b);
}

}  // namespace unisono::alltoall
