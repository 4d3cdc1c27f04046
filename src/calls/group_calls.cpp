#include "calls/group_calls.h"

#include <cassert>
#include <vector>

#include "calls/in_node.h"
#include "mpi/comm.h"
#include "mpi/functions.h"

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
  const Semantics& s = semantics(call.collective);
  if (has_matrix(s)) return run_alltoallv(call, input, output, type, group);
  const IntBlocks blocks(call.counts);
  const int n = blocks.own(call, group);
  IntArguments a{.recvbuf = output, .recvcount = n, .op = op, .root = call.root, .comm = group};
  a.sendbuf = input;
  if (call.in_place && s.in_place == InPlace::root_receive)
    a.recvbuf = MPI_IN_PLACE;
  else if (call.in_place)
    a.sendbuf = MPI_IN_PLACE;
  a.sendcount = n;
  a.sendtype = a.recvtype = type;
  a.sendcounts = a.recvcounts = blocks.counts.data();
  a.sdispls = a.rdispls = blocks.displs.data();
  return call_function(kLibraryFunctions, call.collective, a);
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
