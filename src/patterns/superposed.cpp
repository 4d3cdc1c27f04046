#include "patterns/superposed.h"

#include <utility>

#include "patterns/partition.h"
#include "patterns/rotation.h"

namespace unisono {

SuperposedBroadcasts::SuperposedBroadcasts(const Args& args, std::function<Slice(int)> block)
    : block_(std::move(block)) {
  const Count total = args.recv.total(0, args.size);
  const Count step = args.segment_of(total);
  segments_ = (total + step - 1) / step;
  for (int j = 0; j < args.size; ++j)
    plans_.emplace_back(args.size, Rotation{args.size, j}.position(args.rank), segments_);
}

Count SuperposedBroadcasts::longest_message() const {
  Count length = 0;
  for (int j = 0; std::cmp_less(j, plans_.size()) && segments_ > 0; ++j)
    length += block_of(block_(j), 0, static_cast<int>(segments_)).length;
  return length;
}

// Segments are nearly equal parts of a block, so that those of short blocks may be empty.
SuperposedBroadcasts::Message SuperposedBroadcasts::message(Count i, bool sent) const {
  const BroadcastRound first = plans_.front().round(i);  // rank 0's counts ranks as they are
  Message message{.peer = sent ? first.to : first.from};
  for (int j = 0; std::cmp_less(j, plans_.size()); ++j) {
    const auto& plan = plans_[static_cast<std::size_t>(j)];
    const Count segment = sent ? plan.round(i).sent : plan.round(i).received;
    if (segment < 0) continue;
    const Slice slice = block_of(block_(j), static_cast<int>(segment), static_cast<int>(segments_));
    if (slice.length == 0) continue;
    message.pieces.push_back(
        {static_cast<std::size_t>(j * segments_ + segment), slice, message.length});
    message.length += slice.length;
  }
  return message;
}

}  // namespace unisono
