#include "calls/neighbours_as_ranks.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

namespace unisono {

namespace {

/// Memory of a thread for calls that follow each other: new pages cost ten times a copy.
class Kept {
 public:
  std::byte* of(std::size_t bytes) {
    if (bytes > size_) {
      memory_.reset();  // before the new one
      size_ = 0;
      memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      size_ = bytes;
    }
    return memory_.get();
  }
  /// Until the next call.
  void end() {
    if (size_ <= kMost) return;
    memory_.reset();
    size_ = 0;
  }

 private:
  static constexpr std::size_t kMost = 1 << 20;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_ = 0;
};

thread_local Kept t_sent, t_received;

/// Of one side: a block for each rank of the team. Where a rank is a neighbour several times its
/// blocks are one, in memory of our own, in the order in which they are sent.
struct OfRanks {
  std::vector<Count> counts, displs;
  std::byte* together = nullptr;  // null: blocks are where they are

  template <class BlockOf>
  OfRanks(Kept& memory, int ranks, std::span<const std::int32_t> peers, std::span<const int> order,
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
    const auto bytes = static_cast<std::size_t>(displs.back() + counts.back());
    together = memory.of(bytes);
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

void run_as_alltoallv(const Args& args, const std::byte* input, std::byte* output,
                      const AlltoallvOfRanks& alltoallv) {
  const Neighbourhood& own = *args.neighbours;
  const bool cuts = is_per_peer(semantics(args.collective).send.shape);
  const auto sent = [&](int i) { return cuts ? args.input_block(i) : args.input(); };
  const auto received = [&](int i) { return args.output_block(i); };
  std::vector<int> sends(own.destinations.size());
  std::iota(sends.begin(), sends.end(), 0);
  const std::vector<int> arrives = own.arrival_order();
  const OfRanks out(t_sent, args.size, own.destinations, sends, sent);
  const OfRanks in(t_received, args.size, own.sources, arrives, received);
  if (out.together != nullptr) {
    for_blocks(out, own.destinations, sends, sent, [&](Slice block, Count place) {
      std::memcpy(out.together + place, input + block.offset,
                  static_cast<std::size_t>(block.length));
    });
    input = out.together;
  }
  std::byte* const into = in.together == nullptr ? output : in.together;
  alltoallv(input, out.counts, out.displs, into, in.counts, in.displs);
  if (in.together != nullptr)
    for_blocks(in, own.sources, arrives, received, [&](Slice block, Count place) {
      std::memcpy(output + block.offset, into + place, static_cast<std::size_t>(block.length));
    });
  t_sent.end();
  t_received.end();
}

}  // namespace unisono
