// What the MPI library makes of wrong arguments.
#pragma once
#include "schedule/collective.h"

namespace unisono {

/// Whether it refuses one buffer for what a rank sends and what it receives of itself; of
/// MPI_Exscan, MPI_IN_PLACE for the receive buffer of the first rank. Such calls are refused on the
/// rank that makes them, and libraries of MPICH's family may be built without checks of arguments.
/// Local; asked once of each collective.
bool refuses_one_buffer(Collective collective);

}  // namespace unisono
