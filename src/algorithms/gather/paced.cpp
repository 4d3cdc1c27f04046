// Paced: flat, but the root asks for each block, and has asked for at most `window` that have not
// come. So no more than `window` ranks send at once, and the switch before the root need not drop
// packets (incast), however many ranks there are.
// Rounds (p - 1) / w at the root, each of w tokens and blocks, bytes (p - 1) b there;
// T = (p - 1)(2 alpha / w + beta b). No knowledge of other ranks' counts. Any p, any root.
// Source: the grants are the light barrier of Faraj, Patarasuk, Yuan (2008), here for one receiver.
#include <vector>

#include "algorithms/algorithms.h"
#include "patterns/rotation.h"

namespace unisono::gather {

void paced(Builder& b) {
  const Rotation from_here{b.size(), b.rank()};
  const int root = b.args().root;
  const auto window = static_cast<std::size_t>(b.args().params.window);
  if (!b.args().is_root()) {
    if (b.input().length > 0) b.after(b.recv_token(root));
    b.send(root, b.input());
    return;
  }
  b.copy(b.input(), b.output_block(b.rank()));
  std::vector<OpId> received;
  for (int i = 1; i < b.size(); ++i) {
    const int from = from_here.rank(i);
    const Slice block = b.output_block(from);
    if (block.length == 0) continue;
    if (received.size() >= window) b.after(received[received.size() - window]);
    b.send_token(from);
    received.push_back(b.recv(from, block));
  }
}

}  // namespace unisono::gather
