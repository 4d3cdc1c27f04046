// What MPI defines each collective to do, cell by cell: the pre- and postconditions that the
// checker holds schedules against.
#pragma once
#include <vector>

#include "schedule/args.h"

namespace unisono {

/// Cell slice.offset + i holds contributions to cell first_cell + i; of whom, `who` says.
struct Content {
  enum Who { one, all_ranks, ranks_up_to, ranks_before };
  Slice slice;
  std::int64_t first_cell = 0;  ///< numbered over the whole contribution of a rank
  Who who = one;
  int rank = 0;  ///< one: that rank; ranks_up_to (inclusive) and ranks_before: the bound
};

/// What the buffers of `args[rank]` hold before the collective.
std::vector<Content> before(std::span<const Args> args, int rank);

/// What they must hold after it. Cells that MPI leaves undefined do not occur.
std::vector<Content> after(std::span<const Args> args, int rank);

}  // namespace unisono
