// The error of a call that waits for a rank that has died.
#pragma once
#include <mpi.h>

namespace unisono {

/// The class that an MPI library which handles failures raises (User Level Failure Mitigation),
/// where it has one.
int rank_lost_error();
/// Whether that is what a call of the MPI library has ended with, or it tells of a revoked
/// communicator.
bool says_rank_lost(int code);

/// All that is under way on this communicator of ours, and all that will be, ends with an error on
/// all ranks. Nothing happens where the MPI library does not handle failures.
void revoke(MPI_Comm comm);
/// Whether somebody has done that, or the program with a communicator of its own, as far as this
/// process has heard. Local.
bool is_revoked(MPI_Comm comm);

}  // namespace unisono
