// Calls in which a rank gives all ranks a shorter block than they receive of it.
#pragma once
#include "calls/call.h"

namespace unisono {

/// Puts what this rank sends into its block of the receive buffer, where the rest of the block
/// stands already, and makes the call one in place, which is what MPI libraries do. Precondition:
/// has_shorter_block(), and memory that the processor can touch. An MPI error code.
int put_own_block(Call& call, int rank);

}  // namespace unisono
