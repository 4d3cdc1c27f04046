/* What it costs that a call goes through Unisono to the MPI library: a collective of one rank by
 * its own name and by its PMPI name, which is not interposed.
 *
 *   pass_on_cost              medians of both in ns, alternating, with the quartiles, and the
 *                             mean of the processor time, which knows nothing of other programs;
 *                             with UNISONO_TRACE=DIR (256 MB) what tracing costs
 *   pass_on_cost MPI|PMPI N   N calls and nothing else, for counting instructions */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 1001, CALLS = 2000 };

static void barriers(int profiling, long calls) {
  if (profiling)
    for (long i = 0; i < calls; ++i) PMPI_Barrier(MPI_COMM_SELF);
  else
    for (long i = 0; i < calls; ++i) MPI_Barrier(MPI_COMM_SELF);
}

static void allreduces(int profiling, long calls) {
  double x = 1, y;
  if (profiling)
    for (long i = 0; i < calls; ++i) PMPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
  else
    for (long i = 0; i < calls; ++i) MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void measure(const char* name, void (*calls)(int, long)) {
  static double times[2][BATCHES], differences[BATCHES];
  double mean = 0;
  calls(0, CALLS);
  calls(1, CALLS);
  for (int i = 0; i < BATCHES; ++i) {
    for (int k = 0; k < 2; ++k) {
      const int profiling = (i + k) % 2; /* neither is always first */
      const double start = now(CLOCK_MONOTONIC), used = now(CLOCK_PROCESS_CPUTIME_ID);
      calls(profiling, CALLS);
      mean += (profiling ? -1 : 1) * (now(CLOCK_PROCESS_CPUTIME_ID) - used) / CALLS / BATCHES;
      times[profiling][i] = (now(CLOCK_MONOTONIC) - start) / CALLS;
    }
    differences[i] = times[0][i] - times[1][i];
  }
  for (int k = 0; k < 2; ++k) qsort(times[k], BATCHES, sizeof(double), ascending);
  qsort(differences, BATCHES, sizeof(double), ascending);
  printf("%-10s %9.1f %9.1f %9.1f   (%.1f .. %.1f)   %.1f\n", name, times[1][BATCHES / 2],
         times[0][BATCHES / 2], differences[BATCHES / 2], differences[BATCHES / 4],
         differences[3 * BATCHES / 4], mean);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc == 3) {
    barriers(strcmp(argv[1], "PMPI") == 0, atol(argv[2]));
  } else {
    printf("# ns per call  PMPI_       MPI_      more   (quartiles)   mean\n");
    measure("Barrier", barriers);
    measure("Allreduce", allreduces);
  }
  MPI_Finalize();
  return 0;
}
