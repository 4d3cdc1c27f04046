#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void exchange(int* counts, int* work, int* data) {
  for (int i = 0; i < 4; i++) {
    /* refused: what counts points to may be written in the loop */
    MPI_Allgatherv(data, 1, MPI_INT, data + 8, counts, counts, MPI_INT, MPI_COMM_WORLD);
    work[0] = i;
  }
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int lists[64] = {0}, data[64] = {0};
  exchange(lists, lists, data);
  MPI_Finalize();
  return 0;
}
