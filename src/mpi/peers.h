// How many entries an argument has that is an array over a rank's peers.
#pragma once
#include <mpi.h>

#include "mpi/simulated.h"

namespace unisono {

/// With how many ranks one exchanges data: sends to, receives from.
struct PeerCounts {
  int to = 0;
  int from = 0;
};

/// In the topology of a communicator; none where it has no topology.
inline PeerCounts neighbours_in(MPI_Comm comm) {
  if (kSimulated) return {};  // nor can SMPI be asked
  int kind = MPI_UNDEFINED, rank = 0, to = 0, from = 0, weighted = 0;
  if (PMPI_Topo_test(comm, &kind) != MPI_SUCCESS) return {};
  if (kind == MPI_CART) {
    PMPI_Cartdim_get(comm, &to);
    from = to = 2 * to;
  } else if (kind == MPI_GRAPH) {
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, &to);
    from = to;
  } else if (kind == MPI_DIST_GRAPH) {
    PMPI_Dist_graph_neighbors_count(comm, &from, &to, &weighted);
  }
  return {to, from};
}

enum class PerPeer {
  rank,      ///< of the remote group for an inter-communicator
  own_rank,  ///< of its own group: MPI_Reduce_scatter
  sent_to,   ///< neighbours
  received_from,
};

inline int count_peers(MPI_Comm comm, PerPeer per) {
  if (per == PerPeer::sent_to) return neighbours_in(comm).to;
  if (per == PerPeer::received_from) return neighbours_in(comm).from;
  int inter = 0, size = 0;
  PMPI_Comm_test_inter(comm, &inter);
  (inter != 0 && per == PerPeer::rank ? PMPI_Comm_remote_size : PMPI_Comm_size)(comm, &size);
  return size;
}

}  // namespace unisono
