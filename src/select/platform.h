// Where a job runs: what a measurement there holds for.
#pragma once
#include <string>
#include <string_view>

#include "select/defaults.h"

namespace unisono {

struct Platform {
  std::string flavour;  ///< of the MPI library: mpich, intel, openmpi, abi
  std::string library;  ///< the first line of MPI_Get_library_version
  Place place = Place::undersubscribed;
  double network_rate = 0;  ///< bit/s between two nodes; 0: one node, or not known
  int cores = 1;            ///< of a node
  int ranks_per_core = 0;   ///< where these are shared, at least 1; 0: a core for each rank
};

}  // namespace unisono
