// Which communicators Unisono serves: those whose ranks are processes, one each.
#pragma once
#include <mpi.h>

namespace unisono {

/// Whether `comm` is an inter-communicator, or proven to be an intra-communicator whose ranks are
/// processes, one each: its group has as many members as it has ranks, and the caller is there what
/// it is here. Not MPICH's thread communicators, whose ranks are threads, also where each process
/// has one. Local, and the same on all ranks.
bool is_ordinary(MPI_Comm comm);

/// Whether calls on `comm` belong to a stream of this process (MPICH's stream communicators), in
/// which the MPI library alone can place them. Local: another process may have attached none.
bool has_stream(MPI_Comm comm);

}  // namespace unisono
