// One collective, from the chosen algorithm to the result in the program's buffers.
#pragma once
#include "calls/call.h"
#include "comm/communicator.h"
#include "select/selector.h"

namespace unisono {

/// Runs `call` with choice.algorithm over the communicator's private duplicate, which must exist.
/// An MPI error code; the caller raises it on the program's communicator. Nothing, on all ranks: it
/// did not run, for a composition would give the MPI library counts beyond int.
std::optional<int> run_collective(Communicator& communicator, const Call& call,
                                  const Choice& choice, bool commutative, WaitMode wait);

}  // namespace unisono
