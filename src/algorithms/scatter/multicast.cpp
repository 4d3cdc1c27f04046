// Multicast: the root sends the blocks of the others, one behind the other, in one message to all
// of them, and each takes its own out of it.
// Rounds 1, bytes (p - 1) b at every port; T = alpha_mc + (p - 1) beta b. The root calls the system
// once where a flat scatter does so p - 1 times, but each rank receives what is for all: for blocks
// of some tens of bytes. multicast_receivers: among the root and those only who get anything.
// Irregular counts must be known to all. Source: Karwande, Yuan, Lowenthal, CC-MPI (2003): static
// and dynamic groups.
#include <algorithm>

#include "algorithms/algorithms.h"

namespace unisono::scatter {

namespace {

/// What goes through the network, of the blocks of `group` but the root's.
struct Message {
  Message(const Args& args, const RankGroup& group) : root(args.root) {
    // With equal blocks only the root is told what it sends, and all the same length.
    const bool send_known = is_irregular(args.collective) || args.is_root();
    const Layout& blocks = send_known ? args.send : args.recv;
    for (const int rank : group.ranks) {
      ranks.push_back(rank);
      offsets.push_back(length);
      if (rank != root) length += blocks.length(rank);
    }
  }
  int root;
  std::vector<int> ranks;
  std::vector<Count> offsets;
  Count length = 0;
};

void scatter_to(Builder& b, const RankGroup& group) {
  const Args& args = b.args();
  if (args.is_root()) b.copy(b.input_block(b.rank()), b.output());
  const BufferId to = b.group(group);  // others than its members help to make it
  if (!std::count(group.ranks.begin(), group.ranks.end(), b.rank())) return;
  const Message message(args, group);
  const Slice all = b.scratch(message.length);
  if (!args.is_root()) {
    b.recv_multicast(to, args.root, all);
    const auto own = std::find(message.ranks.begin(), message.ranks.end(), b.rank());
    const Count offset = message.offsets[static_cast<std::size_t>(own - message.ranks.begin())];
    b.copy(all.part(offset, b.output().length), b.output());
    return;
  }
  for (std::size_t i = 0; i < message.ranks.size(); ++i) {
    if (message.ranks[i] == b.rank()) continue;
    const Slice block = b.input_block(message.ranks[i]);
    b.copy(block, all.part(message.offsets[i], block.length));
  }
  b.multicast(to, all);
}

}  // namespace

void multicast(Builder& b) { scatter_to(b, RankGroup::of_all(b.size())); }

void multicast_receivers(Builder& b) {
  const Args& args = b.args();
  RankGroup group;
  for (int rank = 0; rank < b.size(); ++rank)
    if (rank == args.root || args.send.length(rank) > 0) group.ranks.push_back(rank);
  scatter_to(b, group);
}

}  // namespace unisono::scatter
