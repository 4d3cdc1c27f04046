#include "node/tuning.h"

#include <algorithm>

#include "node/messenger.h"
#include "node/pool.h"
#include "node/team.h"

namespace unisono::node {

namespace {

constexpr std::size_t kKiB = 1024;

}  // namespace

// Then a line has left its writer's own cache when it is written again: rewriting it there costs a
// way to each reader's cache, and reading it a way to the writer's.
std::size_t preferred_ring(const Groups& groups, std::size_t private_cache) {
  const auto ranks = static_cast<std::size_t>(groups.size());
  const std::size_t room = Pool::kLargestArena - Team::bytes_before_slots(groups);
  const std::size_t fits = room / ranks / kLinePair * kLinePair;
  const std::size_t longer =
      std::max(Slots::kUsual * Slots::kLongest, private_cache + private_cache / 4);
  return std::min(longer + Slots::kShortRing, fits);
}

// Two ranks have two channels, sixteen 240: all together have what a pool gives at most.
std::size_t preferred_channel_slot(int size) {
  std::size_t slot = 16 * kKiB;
  while (slot > kLinePair && Messenger::arena_bytes(size, slot) > Pool::kLargestArena) slot /= 2;
  return slot;
}

}  // namespace unisono::node
