// What a rank does for all groups at once, its own and those whose data it hands on, when groups
// over a torus cooperate (patterns/torus_cooperation.h).
#pragma once
#include "patterns/torus_cooperation.h"
#include "schedule/builder.h"

namespace unisono {

/// A bcast, reduce (of an operation that commutes) or allreduce (the same) of args.count units in
/// every group. args.rank is the host's number, args.size all hosts'; a rank without a group only
/// hands on. Of other groups' vectors it holds a few segments a tree.
///
/// As one pipelined tree whose links are shared: T = (d + n)(alpha + beta sharing m /
/// (trees_of_each n)); an allreduce 2 d instead of d. Trees: see there.
///
/// Preconditions: no unmet_cooperation(); trees for both ways in an allreduce.
void cooperate(Builder& b, const Cooperation& cooperation, std::span<const TorusGroup> groups);

/// Why it cannot run, one line, or null: more trees than a schedule can have scratch buffers for.
const char* unmet_cooperation(const Cooperation& cooperation);

}  // namespace unisono
