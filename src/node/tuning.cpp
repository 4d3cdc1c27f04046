#include "node/tuning.h"

#include <algorithm>

#include "node/messenger.h"
#include "node/pool.h"
#include "node/team.h"

namespace unisono::node {

namespace {

constexpr std::size_t kKiB = 1024;

}  // namespace

// Measured with unisono-node-benchmark on two cores (Sapphire Rapids, 2 MiB of L2 each), as it is
// and `fresh`. A message that nobody has written since the last call is in the reader's cache, and
// direct copies win from 16 KiB on; one that has just been written is not, and where all ranks copy
// it is 128 to 256 KiB. The lengths are between the two, where neither loses more than it gains.
DirectFrom direct_from(int size, WaitMode mode) {
  DirectFrom from;
  if (size == 1) return from;
  if (mode != WaitMode::sleep) {
    from.bcast = from.scatter = 16 * kKiB;
    from.gather = from.allgather = from.alltoall = 32 * kKiB;
    from.allreduce = from.reduce_scatter_block = 128 * kKiB;
    from.reduce = 256 * kKiB;
    // Not scan: a slice moves twice as much as a chunk of the chain.
    return from;
  }
  // 4, 8 and 16 ranks. Ranks that share a core share its cache: a slot that many read costs them
  // less than the system's copies. Everybody's own block, or one reader's, is better off directly.
  from.gather = from.scatter = from.alltoall = 32 * kKiB;
  from.reduce = 256 * kKiB;
  return from;
}

// Then a line has left its writer's own cache when it is written again: rewriting it there costs a
// way to each reader's cache, and reading it a way to the writer's.
std::size_t preferred_ring(const Groups& groups, std::size_t private_cache) {
  const auto ranks = static_cast<std::size_t>(groups.size());
  const std::size_t room = Pool::kLargestArena - Team::bytes_before_slots(groups);
  const std::size_t fits = room / ranks / kLinePair * kLinePair;
  return std::min(std::max(Slots::kUsual * Slots::kLongest, private_cache + private_cache / 4),
                  fits);
}

// As for gather, where the receiver copies as well; not measured by itself.
std::size_t direct_messages_from() { return 32 * kKiB; }

// Two ranks have two channels, sixteen 240: all together have what a pool gives at most.
std::size_t preferred_channel_slot(int size) {
  std::size_t slot = 16 * kKiB;
  while (slot > kLinePair && Messenger::arena_bytes(size, slot) > Pool::kLargestArena) slot /= 2;
  return slot;
}

}  // namespace unisono::node
