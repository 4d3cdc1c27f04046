// Calls of several groups of hosts at once, on one network: each by an algorithm of its own, or all
// together.
#pragma once
#include <span>
#include <vector>

#include "algorithms/cooperating.h"
#include "network/program.h"

namespace unisono {

/// Of all `ranks`: what they do in the group of which they are a member, nothing where they are in
/// none. `problems`: of each group, whose rank i is host hosts[i]. Precondition: no unmet
/// restriction. The error is one line, as of programs_of().
Result<std::vector<Program>> programs_apart(const Algorithm& algorithm,
                                            std::span<const Problem> problems,
                                            std::span<const TorusGroup> groups, int ranks,
                                            Count sends_under_way);

/// `problem`: of all hosts; its vector is that of every group.
Result<std::vector<Program>> programs_together(const Cooperation& cooperation,
                                               const Problem& problem,
                                               std::span<const TorusGroup> groups,
                                               Count sends_under_way);

}  // namespace unisono
