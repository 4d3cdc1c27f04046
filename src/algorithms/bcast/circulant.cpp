// Circulant n-block broadcast: every rank sends one segment and receives one in every round.
// Rounds n - 1 + q, the optimum for n segments, bytes m per rank; T = (n - 1 + q)(alpha + beta
// m/n), at the best n (sqrt((q - 1) alpha) + sqrt(beta m))^2. The first choice for long messages at
// any p: the bandwidth of the chain with the start-up of a tree. Any p, any root. Source: Traeff,
// (Poly)Logarithmic Time Construction of Round-optimal n-Block Broadcast Schedules (2022); arXiv
// 2407.18004.
#include "patterns/circulant.h"
#include "algorithms/algorithms.h"
#include "patterns/partition.h"
#include "patterns/rotation.h"
#include "patterns/window.h"

namespace unisono::bcast {

void circulant(Builder& b) {
  const Rotation order{b.size(), b.args().root};
  const auto blocks = segments(b.output(), b.args());
  const CirculantBroadcast plan(order.size, order.position(b.rank()),
                                static_cast<Count>(blocks.size()));
  RoundWindow rounds(b, b.args().params.window);
  for (Count i = 0; i < plan.rounds(); ++i, rounds.next_round()) {
    const auto round = plan.round(i);
    if (round.received >= 0)
      rounds.recv(order.rank(round.from), blocks[static_cast<std::size_t>(round.received)]);
    if (round.sent >= 0)
      rounds.send(order.rank(round.to), blocks[static_cast<std::size_t>(round.sent)]);
  }
}

}  // namespace unisono::bcast
