// What was measured: sizes at which the kernels change their ways. All ranks of a team have the
// same.
#pragma once
#include <cstddef>
#include <limits>

#include "node/wait.h"

namespace unisono::node {

/// From how many bytes on, of a message or a block, a kernel copies directly (direct.h).
struct DirectFrom {
  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
  std::size_t bcast = kNever;
  std::size_t gather = kNever, scatter = kNever;      ///< block
  std::size_t allgather = kNever, alltoall = kNever;  ///< block
  std::size_t reduce = kNever, allreduce = kNever;
  std::size_t reduce_scatter_block = kNever;  ///< block
  std::size_t scan = kNever;
};

/// For ranks that may read and write each other's memory.
DirectFrom direct_from(int size, WaitMode mode);

/// How long a team's slots should be.
std::size_t preferred_slot(int size, WaitMode mode);

}  // namespace unisono::node
