// Multicast: the root sends once, to all at a time; the network makes the copies.
// Rounds 1, bytes m at every port; T = alpha_mc + beta m + (log_f p) alpha, the last for the
// acknowledgement by which the root knows that everybody has it (src/multicast). A tree of messages
// costs p - 2 times m at the ports of those who pass it on. One rank on each node. Source:
// Karwande, Yuan, Lowenthal, CC-MPI (2003), with a static group.
#include "algorithms/algorithms.h"

namespace unisono::bcast {

void multicast(Builder& b) {
  const BufferId all = b.group(RankGroup::of_all(b.size()));
  if (b.args().is_root())
    b.multicast(all, b.output());
  else
    b.recv_multicast(all, b.args().root, b.output());
}

}  // namespace unisono::bcast
