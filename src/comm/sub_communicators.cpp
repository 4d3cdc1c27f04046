#include "comm/sub_communicators.h"

#include <cassert>
#include <utility>
#include <vector>

#include "comm/communicator.h"
#include "exec/kernel_reduction.h"
#include "mpi/comm.h"
#include "node/kernels.h"

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

}  // namespace unisono
