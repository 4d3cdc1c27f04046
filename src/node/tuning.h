// Sizes at which the kernels change their ways, as the model finds them (costs.h), and how much
// memory they use. Equal on all ranks of a team.
#pragma once
#include <cstddef>
#include <limits>

#include "node/groups.h"
#include "node/wait.h"

namespace unisono::node {

/// From how many bytes on a kernel copies directly (direct.h).
struct DirectFrom {
  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
  /// Of a rank's block; where blocks differ, of each that is this long (allgatherv,
  /// reduce_scatter: of all, if one is).
  std::size_t gather = kNever, scatter = kNever, allgather = kNever, alltoall = kNever,
              reduce_scatter_block = kNever;
  /// Of the message.
  std::size_t bcast = kNever, reduce = kNever, allreduce = kNever, scan = kNever;
  /// Of a message of a schedule (messenger.h).
  std::size_t message = kNever;
};

/// Up to how many bytes of the others' input who wants the result of a reduction reads all of it
/// and reduces for itself.
struct ReadAll {
  std::size_t everybody = 32 << 10;  ///< allreduce
  std::size_t root = 128 << 10;      ///< reduce
  std::size_t last = 128 << 10;      ///< allreduce where ranks sleep: the last to come, for all
  std::size_t before = 32 << 10;     ///< scan
};

/// When a team measures, and what it needs to know; the same on all ranks.
struct Probing {
  /// Bytes in slots or copied directly, in steps of kLongest: so many are worth the first look, of
  /// a millisecond; and with so many more, a second of them on a slow machine, it is 1 % of their
  /// time.
  static constexpr std::size_t kFirst = 4 << 20, kAgain = std::size_t{1} << 30;
  /// A glance takes some 10 us, of the 1.5 ms that so many bytes take: whether either store has
  /// got dearer. Another look follows no sooner than after kSoonest bytes.
  static constexpr std::size_t kGlance = 16 << 20, kSoonest = 128 << 20;

  int cores = 1;           ///< that the ranks share
  bool any_store = false;  ///< the team may choose how it writes slots
  std::size_t first = 0;   ///< 0: never
  std::size_t again = kAgain;
  std::size_t glance = kGlance;
};

/// What a team is to measure in its next call.
enum class Look : unsigned char { nothing, glance, all };

/// How long the ring of a rank of a team should be, whose core has so many bytes of cache for
/// itself. The largest arena of a pool has room for it.
std::size_t preferred_ring(const Groups& groups, std::size_t private_cache);
/// How long the slots of a channel between two ranks.
std::size_t preferred_channel_slot(int size);

}  // namespace unisono::node
