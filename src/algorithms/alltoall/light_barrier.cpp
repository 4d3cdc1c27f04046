// Ring and pair with a light barrier: a rank sends the block of phase i when its receiver has asked
// for it, and a receiver asks when it has what it asked for `window` blocks before.
// Rounds p - 1, each of a token and a block, bytes (p - 1) b; T = (p - 1)(2 alpha + beta b), with
// window > 1 nearer to (p - 1)(alpha + beta b). However late or early ranks are, at most `window`
// of them send to one rank, so that switches need not drop packets (incast). Pair: p a power of
// two. Source: Faraj, Patarasuk, Yuan, A Study of Process Arrival Patterns (2008), "light barrier",
// of which this is the form with window = 1.
#include <vector>

#include "algorithms/algorithms.h"
#include "patterns/blocks.h"

namespace unisono::alltoall {

namespace {

void phases(Builder& b, auto&& destination, auto&& source) {
  const auto window = static_cast<std::size_t>(b.args().params.window);
  const auto input_block = staged_input(b);
  b.copy(input_block(b.rank()), b.output_block(b.rank()));
  std::vector<OpId> received;
  for (int i = 1; i < b.size(); ++i) {
    const Slice into = b.output_block(source(i)), block = input_block(destination(i));
    if (into.length > 0) {
      if (received.size() >= window) b.after(received[received.size() - window]);
      b.send_token(source(i));
    }
    // Both tokens before both blocks: source and destination may be the same rank.
    const OpId asked = block.length > 0 ? b.recv_token(destination(i)) : kNoOp;
    if (into.length > 0) received.push_back(b.recv(source(i), into));
    b.after(asked);
    b.send(destination(i), block);
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
