// Whether several threads of the program may be in MPI at once.
#pragma once

namespace unisono {

/// MPI_THREAD_MULTIPLE was provided. Otherwise at most one thread is in MPI at a time, and what the
/// last call has left behind needs neither locked instructions nor a copy for each thread, whose
/// address a function would have to find. Constant from the end of MPI_Init on.
extern constinit bool g_several_threads;

}  // namespace unisono
