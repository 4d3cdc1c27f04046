/* A program that repeats one collective, and says after each call how long it took: until every rank
   was through, the barrier behind it with it.

     mpiexec -n P repeated {bcast | reduce | allreduce} BYTES CALLS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const char* collective = argv[1];
  const int bytes = atoi(argv[2]), calls = atoi(argv[3]), elements = bytes / (int)sizeof(float);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  float *in = calloc((size_t)elements + 1, sizeof(float)), *out = calloc((size_t)elements + 1, sizeof(float));
  for (int call = 0; call < calls; ++call) {
    const double begin = MPI_Wtime();
    if (strcmp(collective, "bcast") == 0)
      MPI_Bcast(in, elements, MPI_FLOAT, 0, MPI_COMM_WORLD);
    else if (strcmp(collective, "reduce") == 0)
      MPI_Reduce(in, out, elements, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
    else
      MPI_Allreduce(in, out, elements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%.9f\n", MPI_Wtime() - begin);
  }
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
