// Last arriver: one rank reads everyone's vector, adds them up in pairs, and all read the sum.
// Two rounds of p - 1 messages at that rank, bytes (p - 1) m there; T = 2 alpha + (p - 1)(2 beta +
// gamma) m. Memory for p vectors. The model of what the last of a node's ranks to arrive does for
// all, who sleep meanwhile: here the last rank, since a schedule does not know who arrives when.
// All ranks get the same bits. Any p. Source: own.
#include "algorithms/algorithms.h"
#include "patterns/phases.h"

namespace unisono::allreduce {

void last_arriver(Builder& b) {
  const int last = b.size() - 1;
  if (b.rank() != last) {
    b.send(last, b.input());
    b.recv(last, b.output());
    return;
  }
  b.copy(sum_of_received(b, b.input()), b.output());
  for (int rank = 0; rank < last; ++rank) b.send(rank, b.output());
}

}  // namespace unisono::allreduce
