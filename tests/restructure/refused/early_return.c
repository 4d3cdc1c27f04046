#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void work(int rank) {
  if (rank > 64) return;
  for (int i = 0; i < 4; i++) {
    /* refused: depends on rank (rank, set at line LINE), as the return at line LINE does */
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  work(rank);
  MPI_Finalize();
  return 0;
}
