#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double data[16] = {0};
  MPI_Datatype column;
  for (int i = 0; i < 4; i++) {
    MPI_Type_vector(4, 1, 4, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    /* refused: column is written in the loop */
    MPI_Bcast(data, 1, column, 0, MPI_COMM_WORLD);
    MPI_Type_free(&column);
  }
  MPI_Finalize();
  return 0;
}
