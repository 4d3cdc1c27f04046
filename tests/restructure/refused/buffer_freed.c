#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double* data = malloc(8 * sizeof *data);
  for (int i = 0; i < 4; i++) {
    /* refused: data may be freed in the loop at line LINE */
    MPI_Bcast(data, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (i == 3) free(data);
  }
  MPI_Finalize();
  return 0;
}
