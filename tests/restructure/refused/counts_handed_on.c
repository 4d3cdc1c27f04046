#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void halve(int* list, int n) {
  for (int k = 0; k < n; k++) list[k] /= 2;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int counts[64], displs[64];
  double from[64] = {0}, to[64];
  for (int p = 0; p < size; p++) {
    counts[p] = 1;
    displs[p] = p;
  }

  for (int i = 0; i < 4; i++) {
    /* refused: counts is written in the loop at line LINE by halve() */
    MPI_Alltoallv(from, counts, displs, MPI_DOUBLE, to, counts, displs, MPI_DOUBLE, MPI_COMM_WORLD);
    halve(counts, size);
  }
  MPI_Finalize();
  return 0;
}
