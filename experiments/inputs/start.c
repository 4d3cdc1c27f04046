/* What a job costs before its first call: milliseconds in MPI_Init and MPI_Finalize, and the memory that
 * is rank 0's share (PSS), in KB: after MPI_Init, and more for each of COMMUNICATORS that are never used
 * for a collective, and for CALLS of MPI_Allreduce.
 *
 *   mpiexec -n 4 start COMMUNICATORS CALLS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e3 * time.tv_sec + 1e-6 * time.tv_nsec;
}

static long pss(void) {
  FILE* file = fopen("/proc/self/smaps_rollup", "r");
  char line[256];
  long kilobytes = -1;
  while (file && kilobytes < 0 && fgets(line, sizeof line, file)) sscanf(line, "Pss: %ld kB", &kilobytes);
  if (file) fclose(file);
  return kilobytes;
}

int main(int argc, char** argv) {
  const double entered = now();
  MPI_Init(&argc, &argv);
  const double left = now();
  const int communicators = argc > 1 ? atoi(argv[1]) : 0, calls = argc > 2 ? atoi(argv[2]) : 0;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const long begin = pss();
  MPI_Comm* made = malloc((communicators + 1) * sizeof *made);
  for (int i = 0; i < communicators; i++) MPI_Comm_dup(MPI_COMM_WORLD, &made[i]);
  const long held = pss();
  double one = 1, sum;
  for (int i = 0; i < calls; i++) MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const long used = pss();
  for (int i = 0; i < communicators; i++) MPI_Comm_free(&made[i]);
  const double ends = now();
  MPI_Finalize();
  const double over = now();
  if (rank == 0)
    printf("{\"init\": %.3f, \"finalize\": %.3f, \"pss\": %ld, \"communicators\": %ld, \"calls\": %ld}\n",
           left - entered, over - ends, begin, held - begin, used - held);
  return 0;
}
