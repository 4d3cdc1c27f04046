/* Loops in loops, a call in a condition, a communicator that not every rank has, and MPI_IN_PLACE.
 */
#include <mpi.h>
#include <stdio.h>

enum { STEPS = 3, SWEEPS = 4 };

int main(int argc, char** argv) {
  int rank, size, sweeps = SWEEPS;
  long values[4] = {1, 2, 3, 4}, first = 0, scanned = 0;
  MPI_Comm half;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2 == 0 ? 0 : MPI_UNDEFINED, rank, &half);
  if (rank == 0) {
    sweeps = SWEEPS + 1;
  }
  MPI_Bcast(&sweeps, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int step = 0; step < STEPS; step++) {
    for (int sweep = 0; sweep < sweeps; sweep++) {
      values[0] += rank + step;
      MPI_Allreduce(MPI_IN_PLACE, values, 4, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    }
    if (step % 2 == 1) MPI_Bcast(&first, 1, MPI_LONG, size - 1, MPI_COMM_WORLD);
    first += values[0];
    switch (step) {
      case 0: first--; break;
      default: MPI_Scan(&first, &scanned, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); break;
    }
    if (half != MPI_COMM_NULL) {
      MPI_Exscan(&first, &scanned, 1, MPI_LONG, MPI_SUM, half);
    }
  }
  do MPI_Barrier(MPI_COMM_WORLD);
  while (--sweeps > 0);
  printf("rank %d: %ld %ld %ld\n", rank, values[0], first, rank > 1 ? scanned : 0);
  if (half != MPI_COMM_NULL) {
    MPI_Comm_free(&half);
  }
  MPI_Finalize();
  return 0;
}
