// What was measured: sizes at which the kernels change their ways. Equal on all ranks of a team.
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
};

/// For ranks that may read and write each other's memory.
DirectFrom direct_from(int size, WaitMode mode);

/// From how many bytes on a message goes directly, for such ranks.
std::size_t direct_messages_from();

/// Up to how many bytes of the others' input who wants the result of a reduction reads all of it
/// and reduces for itself. Measured for 2, 4 and 8 ranks.
struct ReadAll {
  std::size_t everybody = 32 << 10;  ///< allreduce
  std::size_t root = 128 << 10;      ///< reduce
  // Where ranks sleep. Not timed: as much as a root reads, or everybody, for one sleep less.
  std::size_t last = 128 << 10;   ///< allreduce: the last to come reads, for all
  std::size_t before = 32 << 10;  ///< scan
};

/// How long the ring of a rank of a team should be, whose core has so many bytes of cache for
/// itself. The largest arena of a pool has room for it.
std::size_t preferred_ring(const Groups& groups, std::size_t private_cache);
/// How long the slots of a channel between two ranks.
std::size_t preferred_channel_slot(int size);

}  // namespace unisono::node
