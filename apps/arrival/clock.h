// A clock common to all ranks: rank 0's, by the round trips of small messages.
#pragma once
#include <mpi.h>

#include <vector>

namespace apps::arrival {

/// What to add to a rank's MPI_Wtime for rank 0's time.
struct Offset {
  double at = 0;  ///< the rank's own time of measurement
  double seconds = 0;
  double error = 0;  ///< half of the shortest round trip
};

/// Of this rank. Collective. The shortest of several round trips errs least.
inline Offset measure_offset(MPI_Comm comm) {
  constexpr int kTrips = 20, kTag = 7;
  int rank = 0, ranks = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &ranks);
  Offset best{MPI_Wtime(), 0, rank == 0 ? 0.0 : 1e9};
  for (int other = 1; other < ranks; ++other) {
    PMPI_Barrier(comm);  // no other messages on the way
    if (rank != 0 && rank != other) continue;
    for (int i = 0; i < kTrips; ++i) {
      double there = 0;
      if (rank == 0) {
        PMPI_Recv(nullptr, 0, MPI_BYTE, other, kTag, comm, MPI_STATUS_IGNORE);
        there = MPI_Wtime();
        PMPI_Send(&there, 1, MPI_DOUBLE, other, kTag, comm);
        continue;
      }
      const double begin = MPI_Wtime();
      PMPI_Send(nullptr, 0, MPI_BYTE, 0, kTag, comm);
      PMPI_Recv(&there, 1, MPI_DOUBLE, 0, kTag, comm, MPI_STATUS_IGNORE);
      const double end = MPI_Wtime(), error = (end - begin) / 2;
      if (error < best.error) best = {(begin + end) / 2, there - (begin + end) / 2, error};
    }
  }
  return best;
}

/// Rank 0's time at this rank's time `own`, on the line through two measurements.
inline double common_time(double own, const Offset& first, const Offset& last) {
  const double span = last.at - first.at;
  const double drift = span > 0 ? (last.seconds - first.seconds) / span : 0;
  return own + first.seconds + drift * (own - first.at);
}

}  // namespace apps::arrival
