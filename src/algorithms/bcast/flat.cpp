// Flat: the root sends to everyone.
// Rounds 1 (p - 1 messages at the root), bytes (p - 1) m at the root; T = (p - 1)(alpha + beta m).
// Fewest dependencies: a rank waits for nobody but the root. Any p, any root.
// Source: textbook.
#include "algorithms/algorithms.h"

namespace unisono::bcast {

void flat(Builder& b) {
  const int p = b.size();
  if (!b.args().is_root()) {
    b.recv(b.args().root, b.output());
    return;
  }
  for (int i = 1; i < p; ++i) b.send((b.rank() + i) % p, b.output());
}

}  // namespace unisono::bcast
