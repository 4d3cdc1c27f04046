/* The transpose of a Fourier transform in the shape of NAS FT: planes change their ranks by an
 * MPI_Alltoallv whose counts the loop computes anew, and always the same. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS_EACH = 2, MOST = 64 };

static void evolve(double* values, int count, int iteration) {
  for (int k = 0; k < count; k++) {
    values[k] = 0.5 * values[k] + cos(k + iteration);
  }
}

static void turn(const double* from, double* to, int size) {
  for (int p = 0; p < size; p++) {
    for (int row = 0; row < ROWS_EACH; row++) {
      for (int column = 0; column < ROWS_EACH; column++) {
        to[(p * ROWS_EACH + column) * ROWS_EACH + row] =
            from[row * size * ROWS_EACH + p * ROWS_EACH + column];
      }
    }
  }
}

int main(int argc, char** argv) {
  int rank, size, iterations = 6;
  int counts[MOST], displs[MOST];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int block = ROWS_EACH * ROWS_EACH;
  double* plane = malloc(block * size * sizeof *plane);
  double* turned = malloc(block * size * sizeof *turned);
  double sums[2], all_sums[2];
  for (int k = 0; k < block * size; k++) {
    plane[k] = rank + 0.25 * k;
  }
  for (int iteration = 0; iteration < iterations; iteration++) {
    evolve(plane, block * size, iteration);
    turn(plane, turned, size);
    for (int p = 0; p < size; p++) {
      counts[p] = block;
    }
    displs[0] = 0;
    for (int p = 1; p < size; p++) {
      displs[p] = displs[p - 1] + counts[p - 1];
    }
    MPI_Alltoallv(turned, counts, displs, MPI_DOUBLE, plane, counts, displs, MPI_DOUBLE,
                  MPI_COMM_WORLD);
    sums[0] = sums[1] = 0;
    for (int k = 0; k < block * size; k++) {
      sums[0] += plane[k];
      sums[1] += k * plane[k];
    }
    (void)MPI_Reduce(sums, all_sums, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      printf("%d: %.6f %.6f\n", iteration, all_sums[0], all_sums[1]);
    }
  }
  free(turned);
  free(plane);
  MPI_Finalize();
  return 0;
}
