// A collective among neighbours as one of all ranks, with nothing between those that are none.
#pragma once
#include <cstddef>
#include <functional>

#include "node/kernels.h"
#include "schedule/args.h"

namespace unisono {

/// Input, counts and places of what is sent to each rank; output and the same of what is received.
/// Bytes.
using AlltoallvOfRanks = std::function<void(const std::byte*, node::PerRank, node::PerRank,
                                            std::byte*, node::PerRank, node::PerRank)>;

/// Counts and places in `args` are bytes. Where a rank is a neighbour several times, its blocks are
/// put together and taken apart.
void run_as_alltoallv(const Args& args, const std::byte* input, std::byte* output,
                      const AlltoallvOfRanks& alltoallv);

}  // namespace unisono
