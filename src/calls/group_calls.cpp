#include "calls/group_calls.h"

#include <cassert>
#include <vector>

#include "calls/in_node.h"
#include "mpi/comm.h"

namespace unisono {

namespace {

/// Counts and displacements of adjacent blocks, as MPI-3 wants them.
struct IntBlocks {
  explicit IntBlocks(std::span<const Count> lengths) {
    int at = 0;
    for (const Count length : lengths) {
      counts.push_back(static_cast<int>(length));
      displs.push_back(at);
      at += counts.back();
    }
  }
  int own(const GroupCall& call, MPI_Comm group) const {
    if (call.counts.empty()) return static_cast<int>(call.count);
    return counts[static_cast<std::size_t>(rank_in(group))];
  }
  std::vector<int> counts, displs;
};

int run_alltoallv(const GroupCall& call, const void* input, void* output, MPI_Datatype type,
                  MPI_Comm group) {
  const IntBlocks sent(call.sent_by(rank_in(group)));
  const IntBlocks received(call.received_by(rank_in(group)));
  return PMPI_Alltoallv(input, sent.counts.data(), sent.displs.data(), type, output,
                        received.counts.data(), received.displs.data(), type, group);
}

int run_library(const GroupCall& call, const void* input, void* output, MPI_Datatype type,
                MPI_Op op, MPI_Comm group) {
  using enum Collective;
  if (call.collective == alltoallv) return run_alltoallv(call, input, output, type, group);
  const IntBlocks blocks(call.counts);
  const int* counts = blocks.counts.data();
  const int* displs = blocks.displs.data();
  const int n = blocks.own(call, group);
  const int root = call.root;
  const void* in = call.in_place ? MPI_IN_PLACE : input;
  void* into = call.in_place ? MPI_IN_PLACE : output;  // scatter
  switch (call.collective) {
    case barrier: return PMPI_Barrier(group);
    case bcast: return PMPI_Bcast(output, n, type, root, group);
    case gather: return PMPI_Gather(in, n, type, output, n, type, root, group);
    case gatherv: return PMPI_Gatherv(in, n, type, output, counts, displs, type, root, group);
    case scatter: return PMPI_Scatter(input, n, type, into, n, type, root, group);
    case scatterv: return PMPI_Scatterv(input, counts, displs, type, into, n, type, root, group);
    case allgather: return PMPI_Allgather(in, n, type, output, n, type, group);
    case allgatherv: return PMPI_Allgatherv(in, n, type, output, counts, displs, type, group);
    case alltoall: return PMPI_Alltoall(in, n, type, output, n, type, group);
    case reduce: return PMPI_Reduce(in, output, n, type, op, root, group);
    case allreduce: return PMPI_Allreduce(in, output, n, type, op, group);
    case reduce_scatter_block: return PMPI_Reduce_scatter_block(in, output, n, type, op, group);
    case reduce_scatter: return PMPI_Reduce_scatter(in, output, counts, type, op, group);
    case scan: return PMPI_Scan(in, output, n, type, op, group);
    case exscan: return PMPI_Exscan(in, output, n, type, op, group);
    case alltoallv:
    case alltoallw: break;
  }
  assert(false && "no grid is made of these");
  return MPI_ERR_INTERN;
}

}  // namespace

int GroupCalls::run(const GroupCall& call, const std::byte* input, std::byte* output,
                    const Binding& binding) {
  if (!call.in_node)
    return run_library(call, input, output, binding.type, binding.op, groups_.of(call.group));
  run_in_node(groups_.team_of(call.group), call, input, output, binding);
  return MPI_SUCCESS;
}

}  // namespace unisono
