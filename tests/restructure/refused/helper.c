#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void exchange(double* from, double* to) {
  /* refused: it is in no loop of exchange(), which is called in a loop, line LINE */
  MPI_Alltoall(from, 1, MPI_DOUBLE, to, 1, MPI_DOUBLE, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double from[64] = {0}, to[64];
  for (int i = 0; i < 4; i++) exchange(from, to);
  MPI_Finalize();
  return 0;
}
