#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = rank; i < size; i++) {
    /* refused: depends on i */
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int i = 0; i < rank; i++) {
    /* refused: depends on rank */
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
