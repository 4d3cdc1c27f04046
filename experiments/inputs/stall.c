/* The longest call of a job, and what the kernel gave to each rank meanwhile. Plain MPI.
 *
 *   stall SECONDS BYTES
 *
 * Bcast, Allreduce and Alltoall of BYTES (to each rank) back to back until rank 0 says in its
 * Bcast that SECONDS are over. Before each such round a rank reads its /proc/self/schedstat, and
 * now and then (it takes longer) se.vruntime of /proc/self/sched. Writes the length of the longest
 * call of the first round, in which ranks connect: `first SECONDS`; then the longest call on any
 * rank of all others: `call NAME SECONDS ROUND ROUNDS`; then a line for each rank in that round:
 * `rank R CALL RUN WAIT BEFORE AFTER FROM TO`: seconds of that call on it, seconds that it ran and
 * that it waited for a core within the round, se.vruntime in ms before and after (-1: not readable)
 * and the cores where the round began and ended. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kCalls = 3, kMost = 200000, kSeldom = 16, kFields = 7 };
static const char* const kNames[kCalls] = {"Bcast", "Allreduce", "Alltoall"};
static const double kLong = 0.1; /* seconds of a round after which se.vruntime is read anyway */

typedef struct {
  double at[kCalls + 1]; /* when each call began, and the last ended */
  double run, wait;      /* of this process until then */
  double clock;          /* se.vruntime; of an earlier round where it was not read in this one */
  int core;
} Round;

static Round* g_rounds;
static int g_schedstat, g_sched;

static double virtual_clock(void) {
  char text[4096];
  const ssize_t length = pread(g_sched, text, sizeof text - 1, 0);
  if (length <= 0) return -1;
  text[length] = 0;
  const char* found = strstr(text, "se.vruntime");
  found = found == NULL ? NULL : strchr(found, ':');
  return found == NULL ? -1 : atof(found + 1);
}

static void read_kernel(Round* round, int reads_clock, double known) {
  char text[128];
  const ssize_t length = pread(g_schedstat, text, sizeof text - 1, 0);
  unsigned long long run = 0, waited = 0;
  if (length > 0) {
    text[length] = 0;
    sscanf(text, "%llu %llu", &run, &waited);
  }
  round->run = 1e-9 * (double)run;
  round->wait = 1e-9 * (double)waited;
  round->clock = reads_clock ? virtual_clock() : known;
  round->core = sched_getcpu();
}

static int is_long(const Round* round) { return round->at[kCalls] - round->at[0] > kLong; }

/* Until rank 0 ends it; returns the number of rounds. */
static int run(double seconds, int bytes, int rank, int size) {
  const int count = bytes / (int)sizeof(double), items = count > 0 ? count : 1;
  double* from = calloc((size_t)items * (size_t)size, sizeof *from);
  double* to = calloc((size_t)items * (size_t)size, sizeof *to);
  const double end = MPI_Wtime() + seconds;
  int number = 0;
  for (double goes_on = 1; goes_on != 0; ++number) {
    Round* round = &g_rounds[number];
    const int reads_clock = number % kSeldom == 0 || is_long(round - 1);
    read_kernel(round, reads_clock, number > 0 ? round[-1].clock : -1);
    from[0] = rank == 0 && number < kMost && (number == 0 || MPI_Wtime() < end);
    round->at[0] = MPI_Wtime();
    MPI_Bcast(from, items, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    goes_on = from[0];
    round->at[1] = MPI_Wtime();
    MPI_Allreduce(from, to, items, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    round->at[2] = MPI_Wtime();
    MPI_Alltoall(from, items, MPI_DOUBLE, to, items, MPI_DOUBLE, MPI_COMM_WORLD);
    round->at[kCalls] = MPI_Wtime();
  }
  read_kernel(&g_rounds[number], 1, -1);
  free(from);
  free(to);
  return number;
}

static double length_of(int call) {
  const Round* round = &g_rounds[call / kCalls];
  return round->at[call % kCalls + 1] - round->at[call % kCalls];
}

typedef struct {
  double seconds;
  int call;
} Longest;

/* The call that took longest on any rank, of the rounds from `first` to before `end`. */
static Longest longest(int first, int end) {
  Longest own = {0, first * kCalls}, all;
  for (int call = first * kCalls; call < end * kCalls; ++call) {
    if (length_of(call) <= own.seconds) continue;
    own.seconds = length_of(call);
    own.call = call;
  }
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  return all;
}

static void write_calls(int rounds, int rank, int size) {
  const Longest first = longest(0, 1), of_others = longest(1, rounds);
  const int call = of_others.call;
  const Round *begin = &g_rounds[call / kCalls], *end = begin + 1;
  const double own[kFields] = {length_of(call),
                               end->run - begin->run,
                               end->wait - begin->wait,
                               begin->clock,
                               end->clock,
                               begin->core,
                               end->core};
  double* all = calloc((size_t)size * kFields, sizeof *all);
  MPI_Gather(own, kFields, MPI_DOUBLE, all, kFields, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("first %.6f\ncall %s %.6f %d %d\n", first.seconds, kNames[call % kCalls],
           of_others.seconds, call / kCalls, rounds);
  for (int other = 0; rank == 0 && other < size; ++other) {
    const double* of = &all[other * kFields];
    printf("rank %d %.6f %.6f %.6f %.3f %.3f %.0f %.0f\n", other, of[0], of[1], of[2], of[3], of[4],
           of[5], of[6]);
  }
  fflush(stdout);
  free(all);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 3) {
    if (rank == 0) fprintf(stderr, "stall: SECONDS BYTES\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  g_schedstat = open("/proc/self/schedstat", O_RDONLY);
  g_sched = open("/proc/self/sched", O_RDONLY);
  g_rounds = 1 + (Round*)calloc(kMost + 3, sizeof *g_rounds); /* one before the first */
  const int rounds = run(atof(argv[1]), atoi(argv[2]), rank, size);
  write_calls(rounds, rank, size);
  MPI_Finalize();
  return 0;
}
