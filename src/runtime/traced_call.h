// A call as an event of a trace.
#pragma once
#include "calls/call.h"
#include "comm/communicator.h"
#include "trace/event.h"

namespace unisono {

/// Collective, bytes, root and flags. Looks only at parameters that are significant on this rank;
/// what is wrong with them is the MPI library's to say.
void describe(const Call& call, int rank, const TracedCommunicator& comm, trace::Event& event);

}  // namespace unisono
