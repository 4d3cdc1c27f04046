#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int length = 4;

static void* grow(void* unused) {
  length++;
  return unused;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  pthread_t thread;
  pthread_create(&thread, NULL, grow, NULL);
  double data[8] = {0};
  for (int i = 0; i < 4; i++) {
    /* refused: pthread_create() at line LINE */
    MPI_Bcast(data, length, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  pthread_join(thread, NULL);
  MPI_Finalize();
  return 0;
}
