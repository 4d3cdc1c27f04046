/* Calls that wait, of ranks that share cores. Plain MPI.
 *
 *   waits PATTERN CALLS MICROSECONDS [BEFORE]
 *
 * PATTERN: pairs (Send and Recv with the rank half a job away), ring (Sendrecv), halo (Irecv, Isend
 * and Waitall with both neighbours), probe (Probe and Recv on a ring), dup (MPI_Comm_dup and
 * MPI_Comm_free), fence (two MPI_Win_fence), barrier, allreduce. Before each call a rank computes
 * for one to three times MICROSECONDS of the processor's time. Messages have 8 bytes. Writes the
 * seconds of a call on the slowest rank, and how often a rank was switched out in a call. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static int g_rank, g_size;
static double g_from[2], g_to[2];

static double processor_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compute(double seconds) {
  const double end = processor_seconds() + seconds;
  while (processor_seconds() < end) continue;
}

static void pairs(void) {
  const int half = g_size / 2, other = (g_rank + half) % (2 * half);
  if (g_rank >= 2 * half) return;
  if (g_rank < half) MPI_Send(g_from, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
  MPI_Recv(g_to, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (g_rank >= half) MPI_Send(g_from, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
}

static void ring(void) {
  MPI_Sendrecv(g_from, 1, MPI_DOUBLE, (g_rank + 1) % g_size, 1, g_to, 1, MPI_DOUBLE,
               (g_rank + g_size - 1) % g_size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void halo(void) {
  const int left = (g_rank + g_size - 1) % g_size, right = (g_rank + 1) % g_size;
  MPI_Request requests[4];
  MPI_Irecv(&g_to[0], 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&g_to[1], 1, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(&g_from[0], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(&g_from[1], 1, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void probe(void) {
  MPI_Request sent;
  MPI_Status status;
  MPI_Isend(g_from, 1, MPI_DOUBLE, (g_rank + 1) % g_size, 4, MPI_COMM_WORLD, &sent);
  MPI_Probe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status);
  MPI_Recv(g_to, 1, MPI_DOUBLE, status.MPI_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

static void dup(void) {
  MPI_Comm made;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Comm_free(&made);
}

static MPI_Win g_window;
static void fence(void) {
  MPI_Win_fence(0, g_window);
  MPI_Win_fence(0, g_window);
}

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void allreduce(void) { MPI_Allreduce(g_from, g_to, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

static double switches(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_nvcsw + used.ru_nivcsw);
}

static const struct {
  const char* name;
  void (*run)(void);
} kPatterns[] = {
    {"pairs", pairs}, {"ring", ring},   {"halo", halo},       {"probe", probe},
    {"dup", dup},     {"fence", fence}, {"barrier", barrier}, {"allreduce", allreduce}};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_size);
  const int calls = argc > 3 ? atoi(argv[2]) : 0;
  const double seconds = argc > 3 ? 1e-6 * atof(argv[3]) : 0;
  void (*run)(void) = NULL;
  for (size_t k = 0; k < sizeof kPatterns / sizeof *kPatterns; ++k)
    if (argc > 3 && strcmp(argv[1], kPatterns[k].name) == 0) run = kPatterns[k].run;
  if (run == NULL || calls < 1) {
    if (g_rank == 0) fprintf(stderr, "waits: PATTERN CALLS MICROSECONDS [BEFORE]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (run == fence) MPI_Win_create(g_to, sizeof g_to, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &g_window);
  for (int call = argc > 4 ? atoi(argv[4]) : 1; call > 0; --call) run();
  double switched = -switches(), all = 0;
  const double begin = MPI_Wtime();
  for (int call = 0; call < calls; ++call) {
    if (seconds > 0) compute(seconds * (1 + (g_rank + call) % 3));
    run();
  }
  const double own = MPI_Wtime() - begin;
  switched += switches();
  double longest = 0;
  MPI_Reduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&switched, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (g_rank == 0) printf("%.9f %.2f\n", longest / calls, all / g_size / calls);
  fflush(stdout);
  if (run == fence) MPI_Win_free(&g_window);
  MPI_Finalize();
  return 0;
}
