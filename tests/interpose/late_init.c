/* Preloaded under one rank of a job: it leaves MPI_Init later than the others. */
#include <unistd.h>

int PMPI_Init(int* argc, char*** argv);
int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided);

static const int kLate = 300000; /* us; shorter than ranks look for each other */

int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  usleep(kLate);
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  usleep(kLate);
  return code;
}
