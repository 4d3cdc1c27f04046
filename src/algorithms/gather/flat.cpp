// Flat: everyone sends to the root, which receives into place.
// Rounds 1 (p - 1 messages at the root), bytes (p - 1) b at the root; T = (p - 1)(alpha + beta b).
// No copies and no knowledge of other ranks' counts. Any p, any root. Source: textbook.
#include "algorithms/algorithms.h"
#include "patterns/rotation.h"

namespace unisono::gather {

void flat(Builder& b) {
  const Rotation from_here{b.size(), b.rank()};
  if (!b.args().is_root()) {
    b.send(b.args().root, b.input());
    return;
  }
  b.copy(b.input(), b.output_block(b.rank()));
  for (int i = 1; i < b.size(); ++i) b.recv(from_here.rank(i), b.output_block(from_here.rank(i)));
}

}  // namespace unisono::gather
