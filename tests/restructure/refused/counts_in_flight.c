#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

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

  MPI_Request request;
  MPI_Irecv(counts, size, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 4; i++) {
    /* refused: counts, handed to MPI at line LINE, may be written in the loop */
    MPI_Alltoallv(from, counts, displs, MPI_DOUBLE, to, counts, displs, MPI_DOUBLE, MPI_COMM_WORLD);
    if (i == 2) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
