// A collective among neighbours through the memory of the node that all ranks are on.
#pragma once
#include <cstddef>

#include "node/kernels.h"
#include "schedule/args.h"

namespace unisono {

/// As an Alltoallv of the node's ranks, with nothing between those that are not neighbours.
/// Collective over the team; counts and places in `args` are bytes.
void run_neighbours_in_node(node::Team& team, const Args& args, const std::byte* input,
                            std::byte* output, node::Protocol way);

}  // namespace unisono
