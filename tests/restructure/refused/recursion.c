#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void work(int depth) {
  for (int i = 0; i < 4; i++) {
    /* refused: work() is recursive */
    MPI_Barrier(MPI_COMM_WORLD);
    if (depth > 0) work(depth - 1);
  }
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  work(3);
  MPI_Finalize();
  return 0;
}
