// Circulant n-block reduction: the broadcast's rounds backwards, every message reversed.
// Rounds n - 1 + q, bytes m per rank; T = (n - 1 + q)(alpha + (beta + gamma) m / n), with the sums
// of one round overlapping the next. For long vectors. Scratch: a vector (none at the root) and
// `window` segments. Commutative operations (the order is cyclic), any p, any root.
// Source: Traeff, (Poly)Logarithmic Time Construction of Round-optimal n-Block Broadcast Schedules
// (2022); arXiv 2407.18004.
#include "patterns/circulant.h"
#include "algorithms/algorithms.h"
#include "patterns/partition.h"
#include "patterns/rotation.h"
#include "patterns/window.h"

namespace unisono::reduce {

void circulant(Builder& b) {
  const Args& args = b.args();
  const Rotation order{args.size, args.root};
  const Slice own = b.input();
  const auto blocks = segments(own, args);
  const CirculantBroadcast plan(args.size, order.position(args.rank),
                                static_cast<Count>(blocks.size()));
  const Slice sum = args.is_root() ? b.output() : b.scratch(own.length);
  std::vector<bool> summed(blocks.size(), sum == own);
  Slots slots(b, args.segment_of(own.length), args.params.window);
  RoundWindow rounds(b, args.params.window);
  const auto sum_of = [&](Slice block) {
    return sum.part(block.offset - own.offset, block.length);
  };

  for (Count i = plan.rounds() - 1; i >= 0; --i, rounds.next_round()) {
    const auto round = plan.round(i);
    if (round.received >= 0) {
      const auto k = static_cast<std::size_t>(round.received);
      rounds.send(order.rank(round.from), summed[k] ? sum_of(blocks[k]) : blocks[k]);
    }
    if (round.sent >= 0) {
      const auto k = static_cast<std::size_t>(round.sent);
      const Slice total = sum_of(blocks[k]);
      const Slice received = summed[k] ? slots.next(total.length) : total;
      rounds.recv(order.rank(round.to), received);
      b.reduce(summed[k] ? received : blocks[k], total);
      summed[k] = true;
    }
  }
  if (args.size == 1) b.copy(own, sum);
}

}  // namespace unisono::reduce
