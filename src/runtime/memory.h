// What earlier jobs of this user have found out (select/online/memory.h): read by rank 0 in
// MPI_Init, shared with all by a notice, and renewed in MPI_Finalize. What the network costs is
// part of it where it was measured.
#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "comm/node_memory.h"
#include "comm/placement.h"
#include "runtime/mode.h"
#include "select/facts.h"
#include "select/online/memory.h"
#include "select/profile.h"

namespace unisono {

struct Wanted {
  Mode mode = Mode::automatic;
  bool network = false;  ///< what it costs: measured, unless the mode is fixed
};

/// What is remembered of calls, by one notice where it is of use, and what messages cost where that
/// is wanted and there is a network; else, and where it could not be measured, nothing. Collective
/// over `world`, the same on all ranks. `lines`: what there is to say, on rank 0.
Machine recall(MPI_Comm world, MPI_Comm node, const NodeFacts& facts, const Wanted& wanted,
               const PostNotice& post, std::vector<std::string>& lines);

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
