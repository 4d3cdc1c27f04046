#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 1) MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 3; i++) {
    /* refused: the MPI_Barrier at line LINE may match it on another rank */
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank != 1) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
