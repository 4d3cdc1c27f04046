/* The Laplacian on a square of N x N points, solved by MUMPS from entries that all ranks hold: mumps N. Prints
   the sum of the solution, its largest entry, and the error of A x = b. */
#include <dmumps_c.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kStart = -1, kEnd = -2, kAll = 6, kWorld = -987654 };

static int neighbours(int side, int row, int* columns) {
  const int i = row / side, j = row % side;
  int found = 0;
  if (i > 0) columns[found++] = row - side;
  if (i + 1 < side) columns[found++] = row + side;
  if (j > 0) columns[found++] = row - 1;
  if (j + 1 < side) columns[found++] = row + 1;
  return found;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int side = argc > 1 ? atoi(argv[1]) : 60, rows = side * side;
  DMUMPS_STRUC_C solver = {.comm_fortran = kWorld, .par = 1, .sym = 0, .job = kStart};
  dmumps_c(&solver);
  int* const lines = malloc(5 * sizeof(int) * rows);
  int* const columns = malloc(5 * sizeof(int) * rows);
  double* const entries = malloc(5 * sizeof(double) * rows);
  double* const sides = malloc(sizeof(double) * rows);
  double* const wanted = malloc(sizeof(double) * rows);
  int count = 0, beside[4];
  for (int row = rank; row < rows; row += ranks) {
    lines[count] = columns[count] = row + 1;
    entries[count++] = 4.5;
    const int found = neighbours(side, row, beside);
    for (int k = 0; k < found; ++k) {
      lines[count] = row + 1;
      columns[count] = beside[k] + 1;
      entries[count++] = -1.0;
    }
  }
  for (int row = 0; row < rows; ++row) sides[row] = wanted[row] = sin(0.1 * row) + 1.0 / (1 + row);
  solver.icntl[0] = solver.icntl[1] = solver.icntl[2] = -1; /* prints nothing */
  solver.icntl[3] = 0;
  solver.icntl[17] = 3; /* entries are distributed */
  solver.n = rows;
  solver.nnz_loc = count;
  solver.irn_loc = lines;
  solver.jcn_loc = columns;
  solver.a_loc = entries;
  if (rank == 0) solver.rhs = sides;
  solver.job = kAll;
  dmumps_c(&solver);
  if (rank == 0) {
    double sum = 0, largest = 0, error = 0;
    for (int row = 0; row < rows; ++row) {
      double product = 4.5 * sides[row];
      const int found = neighbours(side, row, beside);
      for (int k = 0; k < found; ++k) product -= sides[beside[k]];
      sum += sides[row];
      largest = fmax(largest, fabs(sides[row]));
      error = fmax(error, fabs(product - wanted[row]));
    }
    printf("status %d sum %.15g largest %.15g error %.3g\n", solver.infog[0], sum, largest, error);
  }
  solver.job = kEnd;
  dmumps_c(&solver);
  MPI_Finalize();
  return 0;
}
