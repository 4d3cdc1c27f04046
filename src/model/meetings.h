// Phases of schedules that run in a node's memory: they begin when the last of their ranks is
// there.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "model/graph.h"
#include "model/machine.h"

namespace unisono {

/// A phase in a node's memory: who takes part, and when the last of them came.
struct Meeting {
  std::vector<VertexId> members;
  std::size_t missing = 0;
  double latest = 0, seconds = 0;
};

/// Those of all schedules; `of_vertex` says which one an op belongs to. The k-th phase of a group
/// on one of its ranks is the k-th on the others.
class Meetings {
 public:
  Meetings(std::span<const Schedule> schedules, const Graph& graph, Count unit_bytes,
           const NodeKernels& kernels);

  bool hold(VertexId id) const { return of_vertex_.contains(id); }
  Meeting& of(VertexId id) { return meetings_[of_vertex_.at(id)]; }

 private:
  std::vector<Meeting> meetings_;
  std::map<VertexId, std::size_t> of_vertex_;
};

}  // namespace unisono
