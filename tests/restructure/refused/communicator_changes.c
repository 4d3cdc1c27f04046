#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int value = rank, sum;
  MPI_Comm comm = MPI_COMM_WORLD;
  for (int i = 0; i < 4; i++) {
    /* refused: comm is written in the loop at line LINE by MPI_Comm_split() */
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_split(MPI_COMM_WORLD, i & 1, rank, &comm);
  }
  MPI_Finalize();
  return 0;
}
