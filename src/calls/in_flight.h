// The requests of this process that are in flight. Whoever waits moves them, and so do the MPI
// library's turns.
#pragma once
#include <array>
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

/// In place of arrays of the program, for a call that was passed on to the MPI library.
using KeptArrays = std::array<std::unique_ptr<int[]>, 4>;
/// Keeps them until the library's request is done; the program's becomes one that stands for it.
void keep_until_done(KeptArrays arrays, MPI_Request* request) noexcept;

/// Destroys the requests that are done: with the last one of a communicator that the program has
/// freed goes our duplicate. Not in a turn, where that could not be.
void forget_done() noexcept;
/// The same where the MPI library may end, with MPI_Finalize or a session, to begin anew later.
void settle_in_flight() noexcept;

/// Moves requests in flight, unless this thread or another one does just now; whether there
/// were any.
bool progress_in_flight() noexcept;

}  // namespace unisono
