// One call in simulated time.
#pragma once
#include <optional>
#include <string>

#include "tools/bench/cell.h"

namespace unisono::sim {

using bench::Setting;

struct Outcome {
  std::optional<std::string> obstacle;  ///< why it was not run; then the rest says nothing
  double seconds = 0;                   ///< from the common start to the last rank's return
  bool correct = true;                  ///< on all ranks
};

/// Of this rank, for char data, or sums of float whose additions cost a flop each of the host.
Setting setting_of(Collective collective, int root);

/// The buffers of all ranks become the same memory, which holds rubbish: for times of cells whose
/// data do not fit. Results are not verified.
void share_buffers(Setting& setting);

/// Simulated seconds.
double simulated_clock();
/// Of all ranks'. Collective, without Unisono.
double largest(double mine, MPI_Comm comm);
/// All ranks leave at the same simulated instant, which is returned: a whole second, so that what
/// follows does not depend on the rounding of what was before.
double start_together(MPI_Comm comm);

/// Lets Unisono make its private communicator, so that no simulated call does. Collective.
void warm_up(MPI_Comm comm);

/// Collective; the same on all ranks. `algorithm` is "native" or what unisono_force() takes.
Outcome simulate(const Setting& setting, const std::string& algorithm, Count memory_of_rank);

}  // namespace unisono::sim
