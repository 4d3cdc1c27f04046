#include "runtime/sub_communicators.h"

#include <cassert>
#include <utility>
#include <vector>

#include "node/kernels.h"
#include "runtime/comm.h"
#include "runtime/communicator.h"
#include "runtime/kernel_reduction.h"

namespace unisono {

int SubCommunicators::missing(std::span<const CalledLine> lines) const {
  int count = 0;
  for (const auto& [line, _] : lines) count += lines_.contains({line.stride, line.size}) ? 0 : 1;
  return count;
}

bool SubCommunicators::make(MPI_Comm comm, std::span<const CalledLine> lines) {
  const int rank = rank_in(comm);
  bool complete = true;
  for (const auto& [lattice, in_node] : lines) {
    const auto [_, stride, size] = lattice;
    const auto [place, added] = lines_.try_emplace({stride, size});
    Line& line = place->second;
    if (added) {
      const int first = rank / (stride * size) * (stride * size) + rank % stride;
      if (PMPI_Comm_split(comm, first, rank, &line.comm) == MPI_SUCCESS)
        PMPI_Comm_set_errhandler(line.comm, MPI_ERRORS_RETURN);
      else
        line.comm = MPI_COMM_NULL;
    }
    complete &= line.comm != MPI_COMM_NULL;
    if (!in_node || line.comm == MPI_COMM_NULL) continue;
    if (!std::exchange(line.asked_for_team, true) && count_nodes(line.comm) == 1 &&
        has_node_memory())
      line.team = make_team(line.comm);
    complete &= line.team != nullptr && node::can_reduce(line.team->team(), kLargestPredefined);
  }
  return complete;
}

void SubCommunicators::free() {
  for (auto& [place, line] : lines_)
    if (line.comm != MPI_COMM_NULL) PMPI_Comm_free(&line.comm);
  lines_.clear();
}

namespace {

/// Counts and displacements of adjacent blocks, as MPI-3 wants them.
struct IntBlocks {
  explicit IntBlocks(const GroupCall& call) {
    int at = 0;
    for (const Count length : call.counts) {
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

}  // namespace

int run_group_call(const GroupCall& call, const void* input, void* output, MPI_Datatype type,
                   MPI_Op op, MPI_Comm group) {
  using enum Collective;
  const IntBlocks blocks(call);
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
  assert(false && "only grids with rows of several lengths want these, and they run no library");
  return MPI_ERR_INTERN;
}

}  // namespace unisono
