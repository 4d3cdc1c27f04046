/* with_request_tool STARTS WAITS: three nonblocking and three starts of a persistent Allreduce. As
 * many of MPI_Start and MPI_Wait has the tool seen, where it is loaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int good(int sum, int size, int i) { return sum == size * i + size * (size - 1) / 2; }

int main(int argc, char** argv) {
  int rank, size, mine, sum = 0, right = 1, starts = 0, waits = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) {
    mine = rank + i;
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    right &= good(sum, size, i);
  }
  MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < 3; ++i) {
    mine = rank + i;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    right &= good(sum, size, i);
  }
  MPI_Request_free(&request);
  void (*counts)(int*, int*);
  *(void**)&counts = dlsym(RTLD_DEFAULT, "request_tool_counts");
  if (counts) counts(&starts, &waits);
  if (rank == 0)
    printf("%s, the tool saw %d starts, %d waits\n", right ? "passed" : "FAILED", starts, waits);
  MPI_Finalize();
  return !(right && argc == 3 && starts == atoi(argv[1]) && waits == atoi(argv[2]));
}
