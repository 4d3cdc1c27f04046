// What earlier jobs of this user have found out (select/online/memory.h): read by rank 0 in
// MPI_Init, shared with all in one broadcast, and renewed in MPI_Finalize.
#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "comm/placement.h"
#include "runtime/mode.h"
#include "select/facts.h"
#include "select/online/memory.h"
#include "select/profile.h"

namespace unisono {

/// What messages cost in this job, remembered or measured; collective over `world`, the same on
/// all ranks. Without a network nothing of that; then one broadcast, where it is of use, tells what
/// is remembered of calls within nodes. `lines`: what there is to say, on rank 0.
Machine find_network(MPI_Comm world, MPI_Comm node, const NodeFacts& facts, Mode mode,
                     std::vector<std::string>& lines);

/// Of such calls and this other way; the newest first. Only those of jobs with as many ranks per
/// core. The same on all ranks.
std::vector<Verdict> recall_verdicts(const Facts& facts, const Spec& other);
/// All of them as cells of a profile, where nothing is judged any more.
std::vector<ProfileCell> remembered_cells();

/// What this job adds; by threads at once.
void remember(KeptVerdict found);

/// On rank 0, after the last remember(). The error, or nothing: that it cannot be kept is no
/// failure of the program.
std::string keep_memory();

}  // namespace unisono
