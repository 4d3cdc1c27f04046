// The topology of the job, as far as it can be found out: nodes from MPI_Comm_split_type, caches
// and NUMA nodes from /sys, switches from a file.
#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "topology/topology.h"
#include "topology/topology_file.h"

namespace unisono {

struct JobTopology {
  TopologyLabels labels;  ///< of the ranks of the world
  std::string problem;    ///< why the file does not hold here, one line; empty: it does
};

/// Collective over `world`, the same on all ranks; one MPI_Allgather. `nodes`: of its ranks, see
/// nodes_of_ranks(); empty: there is one. `file`: null, or the same on all ranks.
JobTopology find_topology(MPI_Comm world, const std::vector<int>& nodes, const TopologyFile* file);

}  // namespace unisono
