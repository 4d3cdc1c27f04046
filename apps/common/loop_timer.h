// The times of a program's main loop.
#pragma once
#include <mpi.h>

#include <utility>
#include <vector>

namespace apps {

/// Seconds. A list has an entry for each iteration.
struct LoopTimes {
  double total = 0;                 ///< the whole loop on the slowest rank
  std::vector<double> iterations;   ///< on the slowest rank
  std::vector<double> collectives;  ///< in the collectives, with waiting; mean over the ranks
  std::vector<double> computing;    ///< the rest; mean over the ranks
};

/// Used alike by all ranks: start(), then lap() after each iteration, then times().
class LoopTimer {
 public:
  explicit LoopTimer(MPI_Comm comm) : comm_(comm) {}

  /// Begins the loop, after a barrier.
  void start();
  /// Runs the call of a collective and counts its time.
  template <class Call>
  void collective(Call&& call) {
    const double begin = MPI_Wtime();
    std::forward<Call>(call)();
    in_collectives_ += MPI_Wtime() - begin;
  }
  void lap();
  /// Collective; the times are rank 0's only.
  LoopTimes times() const;

 private:
  MPI_Comm comm_;
  double lap_begin_ = 0;
  double in_collectives_ = 0;
  std::vector<double> iterations_, collectives_;
};

}  // namespace apps
