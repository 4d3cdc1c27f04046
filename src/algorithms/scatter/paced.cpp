// Paced: flat, in segments, but at most `window` segments' bytes are on their way: a rank tells the
// root of each that it has come. A send counts as done when the data lie in a buffer of the
// operating system; a root that goes by that fills its own port with the blocks of all ranks at
// once, which drops what is too much. The first window leaves at once. Rounds n (p - 1) / w at the
// root, each of w segments and tokens, bytes (p - 1) b there; T = alpha + (p - 1) beta b, if a
// window passes in no less time than a segment and its token take. No knowledge of other ranks'
// counts. Any p, any root. Source: own; the light barrier of Faraj, Patarasuk, Yuan (2008) seen
// from the sender.
#include "algorithms/algorithms.h"
#include "patterns/partition.h"
#include "patterns/rotation.h"
#include "patterns/window.h"

namespace unisono::scatter {

void paced(Builder& b) {
  const Rotation from_here{b.size(), b.rank()};
  const int root = b.args().root;
  if (!b.args().is_root()) {
    for (const Slice segment : segments(b.output(), b.args())) {
      b.after(b.recv(root, segment));
      b.send_token(root);
    }
    return;
  }
  UnitWindow under_way(b, b.args().segment_of(0) * b.args().params.window);
  for (int i = 1; i < b.size(); ++i) {
    const int to = from_here.rank(i);
    for (const Slice segment : segments(b.input_block(to), b.args())) {
      under_way.make_room_for(segment.length);
      b.send(to, segment);
      under_way.until(b.recv_token(to));
    }
  }
  b.copy(b.input_block(b.rank()), b.output());
}

}  // namespace unisono::scatter
