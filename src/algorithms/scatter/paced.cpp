// Paced: flat, but at most `window` blocks are on their way: a rank tells the root that it has its
// own. A send counts as done when the block lies in a buffer of the operating system; a root that
// goes by that fills its own port with the blocks of all ranks at once, which drops what is too
// much. Rounds (p - 1) / w at the root, each of w blocks and tokens, bytes (p - 1) b there; T = (p
// - 1)(2 alpha / w + beta b). No knowledge of other ranks' counts. Any p, any root. Source: own;
// the light barrier of Faraj, Patarasuk, Yuan (2008) seen from the sender.
#include <vector>

#include "algorithms/algorithms.h"
#include "patterns/rotation.h"

namespace unisono::scatter {

void paced(Builder& b) {
  const Rotation from_here{b.size(), b.rank()};
  const int root = b.args().root;
  const auto window = static_cast<std::size_t>(b.args().params.window);
  if (!b.args().is_root()) {
    if (b.output().length == 0) return;
    b.after(b.recv(root, b.output()));
    b.send_token(root);
    return;
  }
  std::vector<OpId> arrived;
  for (int i = 1; i < b.size(); ++i) {
    const int to = from_here.rank(i);
    const Slice block = b.input_block(to);
    if (block.length == 0) continue;
    if (arrived.size() >= window) b.after(arrived[arrived.size() - window]);
    b.send(to, block);
    arrived.push_back(b.recv_token(to));
  }
  b.copy(b.input_block(b.rank()), b.output());
}

}  // namespace unisono::scatter
