#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int i = 0;
  switch (size % 2) {
    case 0:
      for (; i < 4; i++) {
        case 1:
          /* refused: the switch at line LINE falls through to it */
          MPI_Barrier(MPI_COMM_WORLD);
      }
  }
  MPI_Finalize();
  return 0;
}
