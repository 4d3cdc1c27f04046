// Private duplicates of communicators that were freed while times were on their way over them, or
// packets of their multicast groups.
#pragma once
#include <mpi.h>

#include <memory>

#include "comm/learning.h"
#include "comm/multicast_groups.h"

namespace unisono {

struct Lingering {
  MPI_Comm own;
  std::unique_ptr<Learning> learning;    ///< null: none
  std::unique_ptr<EndingGroups> groups;  ///< null: none
};

/// Local. Thread-safe, as all of these.
void linger(Lingering one);
/// Frees those that nothing is on its way over any more; or all, and waits. How many.
int free_lingering(bool wait);
/// Waits, and frees none: other threads may be in MPI.
void complete_lingering();

}  // namespace unisono
