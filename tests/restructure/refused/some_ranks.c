#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double data[8] = {0};
  if (rank == 0) {
    for (int i = 0; i < 4; i++) {
      /* refused: whether all ranks make this call alike depends on rank, set at line LINE */
      MPI_Bcast(data, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
  } else {
    for (int i = 0; i < 4; i++) {
      /* refused: depends on rank */
      MPI_Bcast(data, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
