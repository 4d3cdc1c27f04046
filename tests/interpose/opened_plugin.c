/* What a program that is not linked to MPI opens: this is. */
#include <mpi.h>
#include <stdio.h>

__attribute__((visibility("default"))) int use_mpi(void) {
  int rank, size, sum = 0, right = 1;
  MPI_Request requests[2];
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  for (int i = 0; i < 3; ++i) {
    int other = 0;
    MPI_Start(&requests[0]);
    MPI_Iallreduce(&size, &other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    right &= sum == size * (size - 1) / 2 && other == size * size;
  }
  MPI_Request_free(&requests[0]);
  if (rank == 0) puts(right ? "passed" : "FAILED");
  MPI_Finalize();
  return !right;
}
