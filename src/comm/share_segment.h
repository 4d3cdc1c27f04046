// One segment for all processes of a communicator.
#pragma once
#include <mpi.h>

#include <cstddef>

#include "base/result.h"
#include "node/segment.h"

namespace unisono {

/// Rank 0 makes it, the others open it where they are told, or are handed it. Its length is what
/// rank 0 asks for. Collective over `comm`, whose ranks are on one node. All have it, or none:
/// then the errors of those who have failed say why, and those of the others are empty.
Result<node::Segment> share_segment(MPI_Comm comm, std::size_t bytes);

}  // namespace unisono
