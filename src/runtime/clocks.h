// What a trace measures of the machine: how far the clocks are apart, and how long messages take.
#pragma once
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "trace/clock.h"

namespace unisono {

/// From this rank's clock to rank 0's. Collective over `comm`, on which nothing is under way;
/// `nodes` as of nodes_of_ranks. The first ranks of the nodes ask each other along a binomial tree,
/// up to 30 times for each edge; the ranks of a node have one clock.
trace::ClockOffset clock_offset(MPI_Comm comm, const std::vector<int>& nodes);

struct OneWay {
  std::uint64_t bytes = 0;
  double seconds = 0;
};

/// On rank 0: the median time of a message to a rank on another node (else to the last rank), from
/// the answer of a byte, less that of the answer; between nodes with the ports' credit spent. For
/// powers of 4 up to the first that is not below `most_bytes`, on a slow network for fewer of them,
/// or until half a second is over; empty elsewhere. Collective over `comm`.
std::vector<OneWay> one_way_times(MPI_Comm comm, const std::vector<int>& nodes,
                                  std::uint64_t most_bytes);

/// Waits for all ranks, leaving the cores to those that still measure.
void wait_quietly_for_all(MPI_Comm comm);

}  // namespace unisono
