#include "apps/common/loop_timer.h"

#include <numeric>

namespace apps {

namespace {

std::vector<double> reduced(const std::vector<double>& values, MPI_Op op, MPI_Comm comm) {
  std::vector<double> result(values.size());
  MPI_Reduce(values.data(), result.data(), static_cast<int>(values.size()), MPI_DOUBLE, op, 0,
             comm);
  return result;
}

}  // namespace

void LoopTimer::start() {
  iterations_.clear();
  collectives_.clear();
  in_collectives_ = 0;
  MPI_Barrier(comm_);
  lap_begin_ = MPI_Wtime();
}

void LoopTimer::lap() {
  const double now = MPI_Wtime();
  iterations_.push_back(now - lap_begin_);
  collectives_.push_back(in_collectives_);
  lap_begin_ = now;
  in_collectives_ = 0;
}

LoopTimes LoopTimer::times() const {
  int ranks = 1;
  MPI_Comm_size(comm_, &ranks);
  const double own = std::accumulate(iterations_.begin(), iterations_.end(), 0.0);
  LoopTimes times;
  MPI_Reduce(&own, &times.total, 1, MPI_DOUBLE, MPI_MAX, 0, comm_);
  times.iterations = reduced(iterations_, MPI_MAX, comm_);
  times.collectives = reduced(collectives_, MPI_SUM, comm_);
  times.computing = reduced(iterations_, MPI_SUM, comm_);
  for (std::size_t i = 0; i < iterations_.size(); ++i) {
    times.collectives[i] /= ranks;
    times.computing[i] = times.computing[i] / ranks - times.collectives[i];
  }
  return times;
}

}  // namespace apps
