// Circulant in segments: the allgather's rounds backwards, every message reversed; every rank's
// block is reduced in n segments, and what goes from one rank to another in a round is one message.
// Rounds n - 1 + q, bytes about (n - 1 + q) / n m; T = (n - 1 + q)(alpha + (beta + gamma) m / n):
// independent of how different the counts are, where a ring pays for the longest block in every
// round. What goes in one round is copied together: up to 2 m of copies. Scratch: a vector and 2
// `window` messages. Commutative operations, any p, any counts. Source: Traeff, (Poly)Logarithmic
// Time Construction of Round-optimal n-Block Broadcast Schedules (2022); arXiv 2407.18004.
#include "algorithms/algorithms.h"
#include "patterns/blocks.h"
#include "patterns/superposed.h"
#include "patterns/window.h"

namespace unisono::reduce_scatter {

void circulant_segments(Builder& b) {
  const Partition input(b.input(), b.args().recv, b.size());
  const SuperposedBroadcasts plan(b.args(), [&](int j) { return input.block(j); });
  const Count window = b.args().params.window;
  Slots outgoing(b, plan.longest_message(), window), incoming(b, plan.longest_message(), window);
  RoundWindow rounds(b, window);
  const Slice sums = b.scratch(b.input().length);
  std::vector<bool> summed(plan.pieces());
  const auto sum_of = [&](Slice own) {
    return sums.part(own.offset - b.input().offset, own.length);
  };
  for (Count i = plan.rounds() - 1; i >= 0; --i, rounds.next_round()) {
    const auto sent = plan.received(i), received = plan.sent(i);
    const Slice out = outgoing.next(sent.length), in = incoming.next(received.length);
    copy_blocks(
        b, sent.size(),
        [&](int k) {
          const auto& piece = sent.pieces[static_cast<std::size_t>(k)];
          return summed[piece.id] ? sum_of(piece.slice) : piece.slice;
        },
        [&](int k) { return sent.packed(k, out); });
    rounds.send(sent.peer, out);
    rounds.recv(received.peer, in);
    for (int k = 0; k < received.size(); ++k) {
      const auto& piece = received.pieces[static_cast<std::size_t>(k)];
      if (!summed[piece.id]) b.copy(piece.slice, sum_of(piece.slice));
      b.reduce(received.packed(k, in), sum_of(piece.slice));
      summed[piece.id] = true;
    }
  }
  const Slice own = input.block(b.rank());
  b.copy(b.size() == 1 ? own : sum_of(own), b.output());
}

}  // namespace unisono::reduce_scatter
