// Circulant in segments: every rank broadcasts its block in n segments, and the messages of all
// these broadcasts that go from one rank to another in a round are one.
// Rounds n - 1 + q, bytes about (n - 1 + q) / n of all blocks together; T = (n - 1 + q)(alpha +
// beta sum / n): independent of how different the counts are, where a ring pays for the longest
// block in every round. What goes in one round is copied together and apart again: 2 copies of all.
// Scratch: 2 `window` messages. Any p, any counts. Source: Traeff, (Poly)Logarithmic Time
// Construction of Round-optimal n-Block Broadcast Schedules (2022); arXiv 2407.18004.
#include "algorithms/algorithms.h"
#include "patterns/blocks.h"
#include "patterns/superposed.h"
#include "patterns/window.h"

namespace unisono::allgather {

void circulant_segments(Builder& b) {
  const SuperposedBroadcasts plan(b.args(), [&](int j) { return b.output_block(j); });
  const Count window = b.args().params.window;
  Slots outgoing(b, plan.longest_message(), window), incoming(b, plan.longest_message(), window);
  RoundWindow rounds(b, window);
  b.copy(b.input(), b.output_block(b.rank()));
  for (Count i = 0; i < plan.rounds(); ++i, rounds.next_round()) {
    const auto sent = plan.sent(i), received = plan.received(i);
    const Slice out = outgoing.next(sent.length), in = incoming.next(received.length);
    copy_blocks(
        b, sent.size(), [&](int k) { return sent.slice(k); },
        [&](int k) { return sent.packed(k, out); });
    rounds.send(sent.peer, out);
    rounds.recv(received.peer, in);
    copy_blocks(
        b, received.size(), [&](int k) { return received.packed(k, in); },
        [&](int k) { return received.slice(k); });
  }
}

}  // namespace unisono::allgather
