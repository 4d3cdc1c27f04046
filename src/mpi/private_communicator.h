// Communicators of Unisono's own.
#pragma once
#include <mpi.h>

namespace unisono {

/// Has the ranks of `comm`, and returns errors; MPI_COMM_NULL where the MPI library has none left.
/// Collective over `comm`.
MPI_Comm private_communicator(MPI_Comm comm);

/// The same of this rank alone. Local.
MPI_Comm private_self();

}  // namespace unisono
