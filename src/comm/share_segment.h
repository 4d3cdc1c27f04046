// One segment for all processes of a communicator.
#pragma once
#include <mpi.h>

#include <cstddef>

#include "base/result.h"
#include "node/segment.h"

namespace unisono {

/// Rank 0 makes it, the others open it by the name that they are told. Its length is what rank 0
/// asks for. Collective over `comm`, whose ranks are on one node; where rank 0 cannot make it its
/// error says why, and those of the others are empty.
Result<node::Segment> share_segment(MPI_Comm comm, std::size_t bytes);

}  // namespace unisono
