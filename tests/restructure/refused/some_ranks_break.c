#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int i = 0;
  while (1) {
    /* refused: depends on rank */
    MPI_Barrier(MPI_COMM_WORLD);
    if (i++ > 3 + 0 * rank) break;
  }
  MPI_Finalize();
  return 0;
}
