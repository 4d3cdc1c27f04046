// Flat: the root sends everyone its block from where it lies.
// Rounds 1 (p - 1 messages at the root), bytes (p - 1) b at the root; T = (p - 1)(alpha + beta b).
// No copies and no knowledge of other ranks' counts. Any p, any root. Source: textbook.
#include "algorithms/algorithms.h"
#include "patterns/rotation.h"

namespace unisono::scatter {

void flat(Builder& b) {
  const Rotation from_here{b.size(), b.rank()};
  if (!b.args().is_root()) {
    b.recv(b.args().root, b.output());
    return;
  }
  for (int i = 1; i < b.size(); ++i) b.send(from_here.rank(i), b.input_block(from_here.rank(i)));
  b.copy(b.input_block(b.rank()), b.output());
}

}  // namespace unisono::scatter
