// The virtual topology of a communicator as MPI tells it: who is whose neighbour.
#pragma once
#include <mpi.h>

#include <memory>
#include <optional>

#include "schedule/neighbourhood.h"
#include "topology/torus_placement.h"

namespace unisono {

/// Of this rank; nothing: the communicator has no topology. Local.
std::optional<Neighbourhood> neighbours_of(MPI_Comm comm);

/// Whether every rank can tell the neighbours of all others by itself: not where each rank has
/// named its own only. The same on all ranks. Local.
bool every_rank_knows_all(MPI_Comm comm);

/// The ranks of a Cartesian communicator as if each were on the host that has its coordinates; the
/// last of MPI's dimensions is the torus' first. Nothing: it is not Cartesian. Local.
TorusHosts hosts_of_cart(MPI_Comm comm, Routing routing);

/// Of all ranks. Null, on all of them: without a topology, where it is too large to be held by each
/// rank, where this MPI library reads it in another way, and where it falls apart, for then a rank
/// cannot tell by its own blocks how long others are. Collective, unless every_rank_knows_all().
std::unique_ptr<const NeighbourGraph> graph_of(MPI_Comm comm);

}  // namespace unisono
