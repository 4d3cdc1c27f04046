// Ways to reduce that several collectives take.
#pragma once
#include <cstddef>

#include "node/copy.h"
#include "node/pipeline.h"
#include "node/reduction.h"

namespace unisono::node {

/// `wanted`: what this rank wants of the result, at the start of output; nothing, or any part. In
/// place, output is written no further than input has been posted.
void reduce_slices(Team& team, const std::byte* input, std::byte* output, std::size_t bytes,
                   const Reduction& reduction, const Chunk& wanted);

/// This rank's block is `mine` of everybody's input. False on all ranks, and nothing is done, when
/// any is in place: its output lies on top of what others read.
bool reduce_block_directly(Team& team, const std::byte* input, std::byte* output, Chunk mine,
                           const Reduction& reduction);

}  // namespace unisono::node
