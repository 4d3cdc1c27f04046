// One segment for all processes of a communicator.
#pragma once
#include <mpi.h>

#include <cstddef>
#include <functional>

#include "base/result.h"
#include "node/segment.h"

namespace unisono {

/// What rank 0 writes into it before the others open it: its error, if it cannot.
using PrepareSegment = std::function<Result<bool>(node::Segment&)>;
/// What each rank does with it once it has it, perhaps again: false where it cannot use it. When
/// share_segment() returns, all have done so.
using EnterSegment = std::function<bool(const node::Segment&)>;

/// Rank 0 makes and prepares it, the others open it where they are told, or are handed it. Its
/// length is what rank 0 asks for; 0: none is made. Collective over `comm`, whose ranks are on one
/// node. All have it, or none: then the errors of those who have failed say why, and those of the
/// others are empty.
Result<node::Segment> share_segment(MPI_Comm comm, std::size_t bytes,
                                    const PrepareSegment& prepare = {},
                                    const EnterSegment& enter = {});

}  // namespace unisono
