/* Ranks that compute for times of their own between collectives, on all ranks and on rows and columns of a grid.

     imbalanced CALLS BYTES MICROSECONDS

   The computing is slept, so that a simulator knows it to the digit. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void compute(int rank, int call, int most) {
  usleep((useconds_t)((rank * 7919 + call * 104729) % (most + 1)));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const int calls = atoi(argv[1]), bytes = atoi(argv[2]), most = atoi(argv[3]);
  int rank = 0, size = 0, columns = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int c = 1; c * c <= size; ++c)
    if (size % c == 0) columns = size / c;
  MPI_Comm row, column;
  MPI_Comm_split(MPI_COMM_WORLD, rank / columns, rank, &row);
  MPI_Comm_split(MPI_COMM_WORLD, rank % columns, rank, &column);
  char *in = calloc((size_t)bytes, (size_t)size), *out = calloc((size_t)bytes, (size_t)size);
  for (int call = 0; call < calls; ++call) {
    compute(rank, call, most);
    MPI_Bcast(out, bytes, MPI_CHAR, 0, row);
    MPI_Allgather(in, bytes / 16, MPI_CHAR, out, bytes / 16, MPI_CHAR, column);
    compute(rank + 1, call, most);
    MPI_Allreduce(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
  free(in);
  free(out);
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
  MPI_Finalize();
  return 0;
}
