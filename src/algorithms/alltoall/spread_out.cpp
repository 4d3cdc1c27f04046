// Spread out: the messages of the simple algorithm in the order rank + 1, rank + 2, .., at most w
// receives and w sends of a rank under way at once. w = 1 is near to ring, w >= p - 1 is simple.
// Rounds (p - 1) / w, bytes (p - 1) b; T = (p - 1)(alpha / w + beta b). The window keeps the
// senders that meet at one receiver few (incast) and the requests of a large communicator bounded.
// Any p. Source: textbook; the window as in MPICH's "scattered".
#include <vector>

#include "algorithms/algorithms.h"
#include "patterns/blocks.h"

namespace unisono::alltoall {

void spread_out(Builder& b) {
  const Rotation from_here{b.size(), b.rank()};
  const auto window = static_cast<std::size_t>(b.args().params.window);
  const auto input_block = staged_input(b);
  b.copy(input_block(b.rank()), b.output_block(b.rank()));

  std::vector<OpId> received, sent;
  const auto message_may_start = [&](const std::vector<OpId>& earlier) {
    if (earlier.size() >= window) b.after(earlier[earlier.size() - window]);
  };
  for (int i = 1; i < b.size(); ++i) {
    const int from = from_here.rank(-i);
    const int to = from_here.rank(i);
    if (const Slice block = b.output_block(from); block.length > 0) {
      message_may_start(received);
      received.push_back(b.recv(from, block));
    }
    if (const Slice block = input_block(to); block.length > 0) {
      message_may_start(sent);
      sent.push_back(b.send(to, block));
    }
  }
}

}  // namespace unisono::alltoall
