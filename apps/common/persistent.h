// Persistent collectives, which MPI has from version 4 on: where the library is older, and in the
// simulator, a form that wants them ends with one line.
#pragma once
#include <mpi.h>

#include "apps/common/world.h"

namespace apps::persistent {

#if MPI_VERSION >= 4 || defined(OPEN_MPI)  // Open MPI 5 calls itself 3.1, and has them

inline constexpr auto kAlltoall = MPI_Alltoall_init;
inline constexpr auto kAllreduce = MPI_Allreduce_init;
inline constexpr auto kReduce = MPI_Reduce_init;

#else

/// In place of any of them.
inline constexpr auto kMissing = [](auto... /*arguments*/) -> int {
  throw UsageError("--form persistent needs an MPI library of MPI 4: this one has no such calls");
};
inline constexpr auto kAlltoall = kMissing, kAllreduce = kMissing, kReduce = kMissing;

#endif

}  // namespace apps::persistent
