// Persistent collectives of a program: a request that Unisono starts, and every function of MPI
// completes.
#pragma once
#include <mpi.h>

#include <functional>
#include <optional>

#include "base/wait_mode.h"
#include "calls/nonblocking.h"

namespace unisono {

/// Makes a request for a call, which starts inactive; with all that ranks must tell each other for
/// it, so that a start sends nothing but data. Collective over the communicator. An MPI error code;
/// nothing, on all ranks: the communicator has served as many as it can. Precondition: has_turns().
std::optional<int> make_persistent(Communicator& communicator, const Call& call,
                                   const Choice& choice, bool commutative, WaitMode wait,
                                   MPI_Request* request);

/// For an MPI library that does not have the function: each start is a nonblocking call.
/// MPI_ERR_UNSUPPORTED_OPERATION, where the library has no turns either.
using NonblockingCall = std::function<int(MPI_Request*)>;
int provide_persistent(NonblockingCall call, MPI_Comm comm, MPI_Request* request) noexcept;

/// Keeps arrays for a request of the MPI library's own, until it is freed.
void keep_until_freed(KeptArrays arrays, MPI_Request request) noexcept;

/// Starts a request that was made here: then an MPI error code, which the program's error handlers
/// have seen. Nothing: it is not one of these.
std::optional<int> start_persistent(MPI_Request request) noexcept;
/// MPI_Request_free of any, before MPI does.
void forget_persistent(MPI_Request request) noexcept;
/// Whether these two have anything to look for.
bool has_persistent() noexcept;

/// Before MPI_Finalize.
void stop_persistent() noexcept;

}  // namespace unisono
