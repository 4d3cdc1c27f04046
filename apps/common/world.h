// The ranks of a job, and what they cannot do for the user.
#pragma once
#include <mpi.h>

#include <stdexcept>

namespace apps {

/// The ranks of MPI_COMM_WORLD.
struct World {
  MPI_Comm comm = MPI_COMM_WORLD;
  int rank = 0;
  int size = 1;
};

/// A wish that cannot be fulfilled, found alike by all ranks.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace apps
