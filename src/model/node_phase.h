// What a phase of a grid takes that is a collective through the memory of a node.
#pragma once
#include "model/machine.h"
#include "schedule/schedule.h"

namespace unisono {

/// Seconds from when the last member has come until all are through: who could leave earlier counts
/// as if it waited. By the cheapest protocol, as the rule of the kernels chooses; blocks of
/// different lengths count as their mean. Precondition: call.in_node.
double node_seconds(const GroupCall& call, Count unit_bytes, const NodeKernels& kernels);

}  // namespace unisono
