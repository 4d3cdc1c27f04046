// What earlier jobs of this user have found out (select/online/memory.h): read by rank 0 in
// MPI_Init, shared with all in one broadcast, and renewed in MPI_Finalize.
#pragma once
#include <mpi.h>

#include <string>
#include <vector>

#include "comm/placement.h"
#include "runtime/mode.h"
#include "select/online/memory.h"
#include "select/profile.h"

namespace unisono {

/// What messages cost in this job, remembered or measured; collective over `world`, the same on
/// all ranks. Without a network nothing of that; then one broadcast, where it is of use, tells what
/// is remembered of calls within nodes. `lines`: what there is to say, on rank 0.
Machine find_network(MPI_Comm world, MPI_Comm node, const NodeFacts& facts, Mode mode,
                     std::vector<std::string>& lines);

/// A kind that earlier jobs have learned; null: none has. The same on all ranks.
const Remembered* recall(const OnlineKey& key, int ranks, int nodes);
/// Of calls within a node, on so many ranks; the newest first. Only those of jobs with as many
/// ranks per core.
std::vector<Verdict> recall_verdicts(Collective collective, int size_class, int ranks,
                                     const Spec& kernels);
/// All of them as cells of a profile, where nothing is judged any more.
std::vector<ProfileCell> remembered_cells();
/// Of rank 0.
const std::vector<Corrections::Entry>& remembered_corrections();

/// What this job adds; by threads at once.
void remember(Remembered learned);
void remember(KeptVerdict found);
/// Whether a remembered choice has taken about what it took.
void judge_memory(bool is_right);

/// On rank 0, after the last remember(). The error, or nothing: that it cannot be kept is no
/// failure of the program.
std::string keep_memory(const std::vector<Corrections::Entry>& corrections);

}  // namespace unisono
