// A schedule as a part of another: the step from single algorithms to compositions.
#pragma once
#include <functional>

#include "schedule/builder.h"

namespace unisono {

/// Writes what this rank does in `part`, the schedule of a group of which it is a member, behind
/// what `b` holds already. Unit 0 of the part's input and output lie where `input` and `output`
/// begin; its scratch buffers become scratch buffers of the whole. Parts written one after the
/// other overlap where the data allow it, as single ops do. Linear in the part's ops.
///
/// `write_library` writes a collective of the MPI library, given in terms of the whole; without it
/// such a call stays what it is.
using WriteLibrary = std::function<OpId(Builder&, const GroupCall&)>;
void embed(Builder& b, const Schedule& part, const RankGroup& group, Slice input, Slice output,
           const WriteLibrary& write_library = {});

}  // namespace unisono
