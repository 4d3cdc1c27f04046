/* A profiling tool that counts what starts and completes requests, and passes it on through PMPI.
 * Whoever begins them it does not see. */
#include <mpi.h>

#define SEEN __attribute__((visibility("default")))

static int starts, waits;

SEEN int MPI_Start(MPI_Request* request) {
  ++starts;
  return PMPI_Start(request);
}

SEEN int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  ++waits;
  return PMPI_Wait(request, status);
}

SEEN void request_tool_counts(int* started, int* waited) {
  *started = starts;
  *waited = waits;
}
