// Paced: flat, in segments, but the root asks for each, and has asked for no more bytes that have
// not come than `window` segments have. So few ranks send at once, and the switch before the root
// need not drop packets (incast), however many ranks there are. Whoever has sent a block of more
// than one segment is told that all of it has come: it is under way to one root at a time.
// Rounds n (p - 1) / w at the root, each of w tokens and segments, bytes (p - 1) b there; T = alpha
// + (p - 1) beta b, if a window passes in no less time than a token and its segment take. No
// knowledge of other ranks' counts. Any p, any root.
// Source: the grants are the light barrier of Faraj, Patarasuk, Yuan (2008), here for one receiver.
#include <vector>

#include "algorithms/algorithms.h"
#include "patterns/partition.h"
#include "patterns/rotation.h"
#include "patterns/window.h"

namespace unisono::gather {

void paced(Builder& b) {
  const Rotation from_here{b.size(), b.rank()};
  const int root = b.args().root;
  if (!b.args().is_root()) {
    const auto own = segments(b.input(), b.args());
    for (const Slice segment : own) {
      b.after(b.recv_token(root));
      b.send(root, segment);
    }
    if (own.size() > 1) b.recv_token(root);
    return;
  }
  b.copy(b.input(), b.output_block(b.rank()));
  UnitWindow under_way(b, b.args().segment_of(0) * b.args().params.window);
  for (int i = 1; i < b.size(); ++i) {
    const int from = from_here.rank(i);
    const auto block = segments(b.output_block(from), b.args());
    std::vector<OpId> received;
    for (const Slice segment : block) {
      under_way.make_room_for(segment.length);
      b.send_token(from);
      under_way.until(received.emplace_back(b.recv(from, segment)));
    }
    if (block.size() <= 1) continue;
    for (const OpId id : received) b.after(id);
    b.send_token(from);
  }
}

}  // namespace unisono::gather
