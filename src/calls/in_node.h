// A collective through the memory of the node: src/node's kernels on the program's buffers.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "calls/call.h"
#include "comm/communicator.h"
#include "exec/execution.h"

namespace unisono {

/// Runs the call. An MPI error code; nothing, on all ranks, if one of them has no memory for its
/// messages. Precondition: communicator.team(), and what a reduction needs (can_reduce_in_node);
/// `way` can serve it. `is_known`: further calls of the kind run so on the fast path; `to_pass`: as
/// many.
std::optional<int> run_in_node(Communicator& communicator, const Call& call, Count bytes,
                               node::Protocol way, bool is_known, CallsToPass* to_pass = nullptr);

/// The same for one step of a composed algorithm, whose group the team is. Precondition: elements
/// without gaps.
void run_in_node(node::Team& team, const GroupCall& call, const std::byte* input, std::byte* output,
                 const Binding& binding);

/// Combines numbers of all ranks, through the memory of the node if the communicator has a team:
/// MPI libraries that spin take milliseconds where ranks share cores. Collective; an error code.
int combine_numbers(Communicator& communicator, std::span<const std::int64_t> own,
                    std::span<std::int64_t> all, MPI_Op op);

}  // namespace unisono
