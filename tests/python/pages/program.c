// The ./program of the pages: short collectives, as often as a learner wants to see them.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* mine = malloc(sizeof(int) * (size_t)size);
  int* all = malloc(sizeof(int) * (size_t)size);
  for (int i = 0; i < size; i++) mine[i] = rank;
  int sum = 0;
  for (int turn = 0; turn < 300; turn++) {
    MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2 || all[size - 1] != size - 1) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  free(mine);
  free(all);
  MPI_Finalize();
  return 0;
}
