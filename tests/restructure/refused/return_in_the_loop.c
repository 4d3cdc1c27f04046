#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 4; i++) {
    /* refused: the return at line LINE leaves the loop */
    MPI_Barrier(MPI_COMM_WORLD);
    if (i == size) return 1;
  }
  MPI_Finalize();
  return 0;
}
