#include "runtime/groups.h"

#include <cassert>
#include <vector>

namespace unisono {

int Groups::missing(std::span<const Lattice> lines) const {
  int count = 0;
  for (const Lattice& line : lines) count += lines_.contains({line.stride, line.size}) ? 0 : 1;
  return count;
}

bool Groups::make(MPI_Comm comm, std::span<const Lattice> lines) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  bool complete = true;
  for (const auto& [_, stride, size] : lines) {
    const auto [line, added] = lines_.try_emplace({stride, size}, MPI_COMM_NULL);
    if (added) {
      const int first = rank / (stride * size) * (stride * size) + rank % stride;
      if (PMPI_Comm_split(comm, first, rank, &line->second) == MPI_SUCCESS)
        PMPI_Comm_set_errhandler(line->second, MPI_ERRORS_RETURN);
      else
        line->second = MPI_COMM_NULL;
    }
    complete &= line->second != MPI_COMM_NULL;
  }
  return complete;
}

MPI_Comm Groups::of(const Lattice& group) const { return lines_.at({group.stride, group.size}); }

void Groups::free() {
  for (auto& [line, comm] : lines_)
    if (comm != MPI_COMM_NULL) PMPI_Comm_free(&comm);
  lines_.clear();
}

namespace {

/// Counts and displacements of adjacent blocks, as MPI-3 wants them.
struct IntBlocks {
  explicit IntBlocks(const LibraryCall& call) {
    int at = 0;
    for (const Count length : call.counts) {
      counts.push_back(static_cast<int>(length));
      displs.push_back(at);
      at += counts.back();
    }
  }
  int own(const LibraryCall& call, MPI_Comm group) const {
    if (call.counts.empty()) return static_cast<int>(call.count);
    int rank = 0;
    PMPI_Comm_rank(group, &rank);
    return counts[static_cast<std::size_t>(rank)];
  }
  std::vector<int> counts, displs;
};

}  // namespace

int run_library_call(const LibraryCall& call, const void* input, void* output, MPI_Datatype type,
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
