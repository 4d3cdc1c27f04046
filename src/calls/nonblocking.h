// Nonblocking collectives of a program: its requests are generalized ones of the MPI library.
#pragma once
#include <mpi.h>

#include <array>
#include <memory>

#include "calls/call.h"
#include "select/selector.h"

namespace unisono {

class Communicator;

/// Starts a call. The program gets a request that every function of MPI takes, complete when ours
/// is done, with its error. An MPI error code of the call itself; the caller raises it.
/// Precondition: has_turns().
int start_nonblocking(Communicator& communicator, const Call& call, const Choice& choice,
                      bool commutative, MPI_Request* request);

/// In place of arrays of the program, for a call that was passed on to the MPI library.
using KeptArrays = std::array<std::unique_ptr<int[]>, 4>;
/// Keeps them until the library's request is done; the program's becomes one that stands for it.
void keep_until_done(KeptArrays arrays, MPI_Request* request) noexcept;

}  // namespace unisono
