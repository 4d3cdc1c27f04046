// The checker: runs the schedules of all ranks together, symbolically, without MPI.
//
// A cell (one unit) holds a set of contributions to one cell of the collective's definition. The
// checker lets messages complete only when both sides have started them (no buffering at all) and
// demands: the same length on both sides; no cycle; no read of a cell that nobody wrote; no slice
// out of bounds; no write into the input; no two conflicting ops of a rank left unordered; sets
// merged by a reduction disjoint, and adjacent in rank order if the operation does not commute; and
// at the end, in every cell that MPI defines, exactly the contributions that MPI defines.
// Schedules that depend on who arrives when are checked for one course of arrivals: see resolve().
#pragma once
#include <optional>
#include <span>
#include <string>

#include "schedule/args.h"
#include "schedule/schedule.h"

namespace unisono {

struct Violation {
  int rank = -1;
  OpId op = kNoOp;           ///< kNoOp: at the end of the schedule
  Slice cell{0, 0, 0};       ///< length 0: no cell is concerned
  std::string what;          ///< the property that fails, in words
  std::string text() const;  ///< "rank 3, op 12, output[5]: ..."
};

/// args[r] and schedules[r] belong to rank r. Returns the first violation found, or nothing.
std::optional<Violation> check(std::span<const Args> args, std::span<const Schedule> schedules);

}  // namespace unisono
