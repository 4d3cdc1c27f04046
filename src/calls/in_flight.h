// The requests of this process that are in flight. Whoever waits moves them, and so do the MPI
// library's turns.
#pragma once
#include <memory>

#include "calls/request.h"

namespace unisono {

/// Starts a request and leaves it in flight.
std::shared_ptr<Request> start_in_flight(Communicator& communicator, const Call& call,
                                         const Choice& choice, bool commutative);

/// The same for a program, which gets a request that every function of MPI takes: a generalized
/// one, complete when ours is done, with its error. An MPI error code; the caller raises it.
/// Precondition: has_turns().
int start_nonblocking(Communicator& communicator, const Call& call, const Choice& choice,
                      bool commutative, MPI_Request* request);

/// Moves all requests in flight, unless this thread or another one does just now; whether there
/// were any.
bool progress_in_flight() noexcept;

}  // namespace unisono
