#include "model/node_phase.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace unisono {

namespace {

constexpr double kNanosecond = 1e-9;

/// Nothing: a barrier, which is one step.
std::optional<node::Kernel> kernel_of(Collective collective) {
  using enum Collective;
  switch (collective) {
    case barrier: return std::nullopt;
    case bcast: return node::Kernel::bcast;
    case gather:
    case gatherv: return node::Kernel::gather;
    case scatter:
    case scatterv: return node::Kernel::scatter;
    case allgather:
    case allgatherv: return node::Kernel::allgather;
    case alltoall:
    case alltoallv:
    case alltoallw: return node::Kernel::alltoall;
    case reduce: return node::Kernel::reduce;
    case allreduce: return node::Kernel::allreduce;
    case reduce_scatter:
    case reduce_scatter_block: return node::Kernel::reduce_scatter;
    case scan:
    case exscan: return node::Kernel::scan;
    default: return std::nullopt;
  }
}

/// Of the vector, or of a block, in bytes.
double bytes_of(const GroupCall& call, Count unit_bytes) {
  const auto unit = static_cast<double>(unit_bytes);
  if (call.counts.empty()) return unit * static_cast<double>(call.count);
  const Count all = std::accumulate(call.counts.begin(), call.counts.end(), Count{0});
  return unit * static_cast<double>(all) / static_cast<double>(call.counts.size());
}

}  // namespace

// A message of one piece is written, then read; of a longer one both go on at the same time.
MemoryTimes memory_times(const node::MemoryCosts& costs, double piece, bool single_copy) {
  const auto line = [](double alpha, double beta, double from = 0) {
    return Cost::Piece{from, alpha * kNanosecond, beta * kNanosecond};
  };
  const auto [less, more] = std::minmax(costs.write, costs.fetch);
  MemoryTimes times;
  times.stores.one_way.pieces = {line(costs.step, less + more),
                                 line(costs.step + less * piece, more, piece)};
  times.stores.gap.pieces = {line(costs.step, more)};
  if (single_copy) {
    times.single_copy.emplace();
    times.single_copy->one_way.pieces = {line(costs.step + costs.call, costs.pull)};
    times.single_copy->gap.pieces = {line(costs.call, costs.pull)};
  }
  times.copy.pieces = {line(0, 2.0 / 3 * costs.combine)};  // with two of three streams
  times.combine.pieces = {line(0, costs.combine)};
  times.fence = costs.step * kNanosecond;
  return times;
}

double node_seconds(const GroupCall& call, Count unit_bytes, const NodeKernels& kernels) {
  const auto kernel = kernel_of(call.collective);
  if (!kernel) return kernels.costs.step * kNanosecond;
  const node::Setting setting{call.group.size(), kernels.cores, kernels.mode};
  return kNanosecond *
         node::time_by_rule(*kernel, bytes_of(call, unit_bytes), kernels.costs, setting);
}

}  // namespace unisono
