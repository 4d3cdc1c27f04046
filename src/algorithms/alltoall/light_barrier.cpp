// Ring and pair with a light barrier: a rank sends a segment of the block of phase i when its
// receiver has asked for it, and a receiver asks when it has what it asked for `window` before.
// Rounds p - 1 of n segments and as many tokens, bytes (p - 1) b;
// T = (p - 1)(alpha + n (alpha / w + beta b / n)). However late or early ranks are, at most
// `window` segments are on their way to a rank: neither the switch before it nor the port of a
// sender needs to drop packets (incast). Pair: p a power of two. Source: Faraj, Patarasuk, Yuan, A
// Study of Process Arrival Patterns (2008), "light barrier", which asks for a whole block at a
// time.
#include <algorithm>
#include <vector>

#include "algorithms/algorithms.h"
#include "patterns/blocks.h"
#include "patterns/partition.h"

namespace unisono::alltoall {

namespace {

void phases(Builder& b, auto&& destination, auto&& source) {
  const auto window = static_cast<std::size_t>(b.args().params.window);
  const auto input_block = staged_input(b);
  b.copy(input_block(b.rank()), b.output_block(b.rank()));
  std::vector<OpId> received;
  for (int i = 1; i < b.size(); ++i) {
    const int from = source(i), to = destination(i);
    const std::vector<Slice> into = segments(b.output_block(from), b.args());
    const std::vector<Slice> block = segments(input_block(to), b.args());
    for (std::size_t k = 0; k < std::max(into.size(), block.size()); ++k) {
      if (k < into.size()) {
        if (received.size() >= window) b.after(received[received.size() - window]);
        b.send_token(from);
      }
      // Both tokens before both segments: `from` and `to` may be the same rank.
      const OpId asked = k < block.size() ? b.recv_token(to) : kNoOp;
      if (k < into.size()) received.push_back(b.recv(from, into[k]));
      if (k >= block.size()) continue;
      b.after(asked);
      b.send(to, block[k]);
    }
  }
}

}  // namespace

void ring_light_barrier(Builder& b) {
  const Rotation from_here{b.size(), b.rank()};
  phases(
      b, [&](int i) { return from_here.rank(i); }, [&](int i) { return from_here.rank(-i); });
}

void pair_light_barrier(Builder& b) {
  const auto partner = [&](int i) { return b.rank() ^ i; };
  phases(b, partner, partner);
}

}  // namespace unisono::alltoall
