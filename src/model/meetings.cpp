#include "model/meetings.h"

#include <utility>

#include "model/node_phase.h"

namespace unisono {

Meetings::Meetings(std::span<const Schedule> schedules, const Graph& graph, Count unit_bytes,
                   const NodeKernels& kernels) {
  std::map<std::pair<std::vector<int>, int>, std::size_t> known;
  for (std::size_t r = 0; r < schedules.size(); ++r) {
    std::map<std::vector<int>, int> before;
    for (OpId id = 0; id < schedules[r].ops().size(); ++id) {
      const Op& op = schedules[r].ops()[id];
      if (op.kind != OpKind::library) continue;
      const GroupCall& call = schedules[r].group_calls()[op.call()];
      if (!call.in_node) continue;
      const auto [meeting, fresh] =
          known.try_emplace({call.group.ranks, before[call.group.ranks]++}, meetings_.size());
      if (fresh)
        meetings_.push_back({.missing = call.group.ranks.size(),
                             .seconds = node_seconds(call, unit_bytes, kernels)});
      meetings_[meeting->second].members.push_back(graph.first[r] + id);
      of_vertex_[graph.first[r] + id] = meeting->second;
    }
  }
}

}  // namespace unisono
