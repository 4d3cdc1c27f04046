// Blocks among neighbours that go through other ranks, in phases: those that go from one rank to
// another in a phase are one message, and a block that several want is in it once.
#pragma once
#include <functional>
#include <vector>

#include "schedule/builder.h"

namespace unisono {

/// The ranks that have an edge's block: before the first phase its sender, after the last one its
/// receiver. Of equal length for all edges. The same on all ranks.
using WayOf = std::function<std::vector<int>(const NeighbourGraph::Edge&)>;

/// What this rank does: in each phase at most one message to and from every other. Needs the graph
/// and, where counts are a rank's own, the matrix. Cost O(edges) to build; scratch for what passes,
/// twice.
void relay(Builder& b, const WayOf& way_of);

/// Messages of the rank that sends most of them, all phases together.
int most_messages(const NeighbourGraph& graph, const WayOf& way_of);

}  // namespace unisono
