#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

void work(void) {
  for (int i = 0; i < 4; i++) {
    /* refused: work() is not static: another file may call it on some ranks only */
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  work();
  MPI_Finalize();
  return 0;
}
