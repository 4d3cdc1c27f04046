// A call as an event of a trace.
#pragma once
#include "calls/call.h"
#include "comm/communicator.h"
#include "trace/event.h"

namespace unisono {

/// Collective, bytes, root and flags. Looks only at parameters that are significant on this rank;
/// what is wrong with them is the MPI library's to say. `others`: the ranks of the communicator, of
/// the remote group for an inter-communicator.
void describe(const Call& call, int rank, int others, bool inter, trace::Event& event);

}  // namespace unisono
