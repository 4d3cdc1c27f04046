#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int error = MPI_SUCCESS;
  for (int i = 0; i < 4; i++) {
    /* refused: its result is used */
    error |= MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return error;
}
