/* Figure 1 of the paper on compiled communication: a Scatterv in a loop, here of C. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 10

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* counts = malloc(size * sizeof *counts);
  int* displs = malloc(size * sizeof *displs);
  int total = 0;
  for (int p = 0; p < size; p++) {
    counts[p] = p + 1;
    displs[p] = total;
    total += counts[p];
  }
  double* all = malloc(total * sizeof *all);
  double* mine = malloc((rank + 1) * sizeof *mine);
  double sum = 0;
  for (int i = 0; i < ROUNDS; i++) {
    for (int k = 0; k < total; k++) {
      all[k] = i * total + k;
    }
    MPI_Scatterv(all, counts, displs, MPI_DOUBLE, mine, rank + 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int k = 0; k <= rank; k++) {
      sum += mine[k];
    }
  }
  printf("rank %d: %.0f\n", rank, sum);
  free(mine);
  free(all);
  free(displs);
  free(counts);
  MPI_Finalize();
  return 0;
}
