/* with_tool N: three MPI_Bcast, and where the counting tool is loaded, it has seen N of them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size, x = 0, good = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 3; ++i) {
    const int root = i % size;
    x = rank == root ? 100 + i : -1;
    MPI_Bcast(&x, 1, MPI_INT, root, MPI_COMM_WORLD);
    good &= x == 100 + i;
  }
  int (*calls)(void);
  *(void**)&calls = dlsym(RTLD_DEFAULT, "counting_tool_calls");
  const int seen = calls ? calls() : 0;
  if (rank == 0) printf("%s, the tool saw %d\n", good ? "passed" : "FAILED", seen);
  MPI_Finalize();
  return !(good && argc == 2 && seen == atoi(argv[1]));
}
