#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int length = 8;
void step(void);

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double data[64] = {0};
  for (int i = 0; i < 4; i++) {
    /* refused: may be written in the loop at line LINE by step() */
    MPI_Bcast(data, length, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    step();
  }
  MPI_Finalize();
  return 0;
}
