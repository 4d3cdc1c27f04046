// What the memory of a node takes by what its ranks have measured: a phase of a grid that is a
// collective there, and messages.
#pragma once
#include "model/machine.h"
#include "schedule/schedule.h"

namespace unisono {

/// Seconds from when the last member has come until all are through: who could leave earlier counts
/// as if it waited. By the cheapest protocol, as the rule of the kernels chooses; blocks of
/// different lengths count as their mean. Precondition: call.in_node.
double node_seconds(const GroupCall& call, Count unit_bytes, const NodeKernels& kernels);

/// Of messages in pieces of so many bytes; with single copy where ranks may. A rank measures no
/// more than slopes: `unisono-calibrate` measures each length.
MemoryTimes memory_times(const node::MemoryCosts& costs, double piece, bool single_copy);

}  // namespace unisono
