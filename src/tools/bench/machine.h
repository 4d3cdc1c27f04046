// Where a measurement was made: what a reader needs in order to judge or repeat it.
#pragma once
#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "select/platform.h"

namespace unisono::bench {

struct Machine {
  std::string unisono_version;
  std::string mpi_standard;      ///< "4.1"
  std::string mpi_library_path;  ///< of the file that is loaded; empty: unknown
  Platform platform;
  int ranks = 1;
  int nodes = 1;
  int most_ranks_on_a_node = 1;
  int cores = 1;  ///< that the ranks on rank 0's node may use
  std::string processor, kernel;
  std::vector<std::pair<std::string, std::string>> environment;  ///< UNISONO_*, sorted
};

/// The file from which this rank's MPI library was loaded, links followed; empty: unknown.
std::string library_path();

/// Collective over `comm`.
Machine describe_machine(MPI_Comm comm);

}  // namespace unisono::bench
