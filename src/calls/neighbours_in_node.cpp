#include "calls/neighbours_in_node.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

namespace unisono {

namespace {

/// Of one side: a block for each rank of the team. Where a rank is a neighbour several times its
/// blocks are one, in memory of our own, in the order in which they are sent.
struct OfRanks {
  std::vector<Count> counts, displs;
  std::vector<std::byte> together;  // empty: blocks are where they are

  template <class BlockOf>
  OfRanks(int ranks, std::span<const std::int32_t> peers, std::span<const int> order,
          const BlockOf& block_of)
      : counts(static_cast<std::size_t>(ranks)), displs(counts.size()) {
    std::vector<int> blocks(counts.size());
    for (const int i : order) {
      const std::int32_t peer = peers[static_cast<std::size_t>(i)];
      const Slice block = block_of(i);
      if (peer == kNobody || block.length == 0) continue;
      const auto at = static_cast<std::size_t>(peer);
      counts[at] += block.length;
      displs[at] = block.offset;
      ++blocks[at];
    }
    if (std::none_of(blocks.begin(), blocks.end(), [](int n) { return n > 1; })) return;
    std::exclusive_scan(counts.begin(), counts.end(), displs.begin(), Count{0});
    together.resize(static_cast<std::size_t>(displs.back() + counts.back()));
  }
};

/// each(user's block, its place among those that are together), in the order of `order`.
template <class BlockOf, class Each>
void for_blocks(const OfRanks& side, std::span<const std::int32_t> peers,
                std::span<const int> order, const BlockOf& block_of, const Each& each) {
  std::vector<Count> next(side.displs);
  for (const int i : order) {
    const std::int32_t peer = peers[static_cast<std::size_t>(i)];
    const Slice block = block_of(i);
    if (peer == kNobody || block.length == 0) continue;
    Count& place = next[static_cast<std::size_t>(peer)];
    each(block, place);
    place += block.length;
  }
}

}  // namespace

void run_neighbours_in_node(node::Team& team, const Args& args, const std::byte* input,
                            std::byte* output, node::Protocol way) {
  const Neighbourhood& own = *args.neighbours;
  const bool cuts = is_per_peer(semantics(args.collective).send.shape);
  const auto sent = [&](int i) { return cuts ? args.input_block(i) : args.input(); };
  const auto received = [&](int i) { return args.output_block(i); };
  std::vector<int> sends(own.destinations.size());
  std::iota(sends.begin(), sends.end(), 0);
  const std::vector<int> arrives = own.arrival_order();
  OfRanks out(args.size, own.destinations, sends, sent);
  OfRanks in(args.size, own.sources, arrives, received);
  if (!out.together.empty()) {
    for_blocks(out, own.destinations, sends, sent, [&](Slice block, Count place) {
      std::memcpy(out.together.data() + place, input + block.offset,
                  static_cast<std::size_t>(block.length));
    });
    input = out.together.data();
  }
  std::byte* const into = in.together.empty() ? output : in.together.data();
  node::alltoallv(team, input, out.counts, out.displs, into, in.counts, in.displs, way);
  if (in.together.empty()) return;
  for_blocks(in, own.sources, arrives, received, [&](Slice block, Count place) {
    std::memcpy(output + block.offset, into + place, static_cast<std::size_t>(block.length));
  });
}

}  // namespace unisono
