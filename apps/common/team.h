// The ranks of a job as those who share a matrix.
#pragma once
#include <vector>

#include "apps/common/loop_timer.h"
#include "apps/common/transpose.h"
#include "apps/common/world.h"

namespace apps {

/// Exchanges by MPI_Alltoall, whose time counts as a collective's. Throws UsageError where a block
/// has more elements than MPI can count.
Team team_of(const World& world, LoopTimer& timer);

/// The same, by a persistent MPI_Alltoall for each pair of buffers: made when they are first
/// exchanged, which all ranks do in the same order, and freed with the last copy of the team.
Team persistent_team_of(const World& world, LoopTimer& timer);

/// Throws UsageError on all ranks if `value`, of the option `what`, is no multiple of the ranks.
void demand_multiple(const World& world, const char* what, std::size_t value);

/// The parts of all ranks, equally long, on rank 0; elsewhere nothing. Collective.
std::vector<double> collected(const World& world, const double* own, std::size_t count);

}  // namespace apps
