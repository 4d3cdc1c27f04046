#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double data[8] = {0};
  for (int root = 0; root < size; root++) {
    /* refused: root is set by the loop at line LINE */
    MPI_Bcast(data, 8, MPI_DOUBLE, root, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
