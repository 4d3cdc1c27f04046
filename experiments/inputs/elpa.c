/* All eigenvalues and vectors of a symmetric matrix of N rows, by ELPA with two stages or one: elpa N STAGES. */
#include <elpa/elpa.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBlock = 16 };

static void must(int error, const char* what) {
  if (error == ELPA_OK) return;
  printf("%s: %s\n", what, elpa_strerr(error));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int own(int rows, int place, int places) { /* rows of a block-cyclic layout */
  int found = 0;
  for (int row = 0; row < rows; ++row) found += row / kBlock % places == place;
  return found;
}

static int row_of(int index, int place, int places) {
  return (index / kBlock * places + place) * kBlock + index % kBlock;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, error, dims[2] = {0, 0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, dims);
  const int n = argc > 1 ? atoi(argv[1]) : 200, stages = argc > 2 ? atoi(argv[2]) : 2;
  const int down = rank % dims[0], across = rank / dims[0];
  const int lines = own(n, down, dims[0]), columns = own(n, across, dims[1]);
  double* const matrix = malloc(sizeof(double) * lines * columns);
  double* const vectors = malloc(sizeof(double) * lines * columns);
  double* const values = malloc(sizeof(double) * n);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < lines; ++i) {
      const int r = row_of(i, down, dims[0]), c = row_of(j, across, dims[1]);
      matrix[i + j * lines] = r == c ? 2.0 + 0.01 * r : sin(0.3 * (r + c)) / (1.0 + abs(r - c));
    }
  must(elpa_init(20211125), "elpa_init");
  elpa_t handle = elpa_allocate(&error);
  must(error, "elpa_allocate");
  const struct {
    const char* name;
    int value;
  } settings[] = {{"na", n},
                  {"nev", n},
                  {"local_nrows", lines},
                  {"local_ncols", columns},
                  {"nblk", kBlock},
                  {"mpi_comm_parent", (int)MPI_Comm_c2f(MPI_COMM_WORLD)},
                  {"process_row", down},
                  {"process_col", across}};
  for (unsigned i = 0; i < sizeof settings / sizeof *settings; ++i) {
    elpa_set(handle, settings[i].name, settings[i].value, &error);
    must(error, settings[i].name);
  }
  must(elpa_setup(handle), "elpa_setup");
  elpa_set(handle, "solver", stages == 2 ? ELPA_SOLVER_2STAGE : ELPA_SOLVER_1STAGE, &error);
  must(error, "solver");
  elpa_eigenvectors(handle, matrix, values, vectors, &error);
  must(error, "elpa_eigenvectors");
  double part = 0, norm = 0;
  for (int i = 0; i < lines * columns; ++i) part += vectors[i] * vectors[i];
  MPI_Allreduce(&part, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 0; i < n; i += n / 10) printf("eigenvalue %.15g\n", values[i]);
    printf("norm %.12g\n", norm);
  }
  elpa_deallocate(handle, &error);
  elpa_uninit(&error);
  MPI_Finalize();
  return 0;
}
