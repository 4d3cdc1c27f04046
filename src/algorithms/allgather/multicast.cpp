// Multicast: each rank sends its block once, to all at a time; at most `window` blocks are on
// their way, for all of them come through the same ports.
// Rounds p, bytes b sent and (p - 1) b received; T = p alpha_mc + (p - 1) beta b. A rank receives
// no less than by messages between two, so that long blocks gain nothing; of short ones each rank
// sends one message instead of p - 1. Source: Karwande, Yuan, Lowenthal, CC-MPI (2003), Table 1;
// concurrent roots in turn: Khalilov et al. 2024.
#include "algorithms/algorithms.h"

namespace unisono::allgather {

void multicast(Builder& b) {
  const auto window = static_cast<std::size_t>(b.args().params.window);
  const BufferId all = b.group(RankGroup::of_all(b.size()));
  b.copy(b.input(), b.output_block(b.rank()));
  std::vector<OpId> received;
  for (int root = 0; root < b.size(); ++root) {
    if (root != b.rank()) {
      received.push_back(b.recv_multicast(all, root, b.output_block(root)));
      continue;
    }
    if (received.size() >= window) b.after(received[received.size() - window]);
    b.multicast(all, b.output_block(root));
  }
}

}  // namespace unisono::allgather
