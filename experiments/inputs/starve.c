/* How long a process does not run after it was moved to another core where it is not alone. No MPI.
 *
 *   starve WAY YIELDING OTHERS SECONDS MOVES CORE_FROM CORE_TO
 *
 * On CORE_FROM YIELDING processes and the victim call sched_yield in a loop. On CORE_TO OTHERS do
 * WAY: `sleep` (each two pass a byte to and fro by pipes, so that each sleeps and wakes and
 * the core is never idle), `compute` (they never wait), or `yield`. Each SECONDS the victim is
 * moved to the other core by sched_setaffinity; on CORE_TO it only reads the clock. Writes a line
 * for each of the MOVES: `CORE GAP BEFORE AFTER YIELDING OTHER`: the core it was moved to, the
 * longest time in seconds between two of its looks at the clock, the one before the move included,
 * its se.vruntime in ms before and after the move, and that of a process of either core before it
 * (-1: not readable). */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kProcesses = 256 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void move_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) _exit(3);
}

static double virtual_clock(pid_t process) {
  char line[256];
  double value = -1;
  snprintf(line, sizeof line, "/proc/%d/sched", (int)process);
  FILE* file = fopen(line, "r");
  if (file == NULL) return value;
  while (fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "se.vruntime : %lf", &value) == 1) break;
  fclose(file);
  return value;
}

static void yield_for_ever(void) {
  for (;;) sched_yield();
}

static void compute_for_ever(void) {
  for (volatile unsigned long k = 0;; ++k) continue;
}

static void pass_for_ever(int from, int to, int begins) {
  char byte = 0;
  if (begins && write(to, &byte, 1) != 1) _exit(3);
  while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1) continue;
  _exit(3);
}

/* Returns in the new process only; 0 is its number's. */
static pid_t started(int core) {
  const pid_t made = fork();
  if (made != 0) return made;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  move_to(core);
  return 0;
}

static void start_others(const char* way, int count, int core, pid_t* processes) {
  int to[2], back[2];
  for (int k = 0; k < count; ++k) {
    if (k % 2 == 0 && (pipe(to) != 0 || pipe(back) != 0)) exit(3);
    processes[k] = started(core);
    if (processes[k] != 0) continue;
    if (strcmp(way, "yield") == 0) yield_for_ever();
    if (strcmp(way, "compute") == 0) compute_for_ever();
    pass_for_ever(k % 2 == 0 ? back[0] : to[0], k % 2 == 0 ? to[1] : back[1], k % 2 == 0);
  }
}

/* The longest time between two looks at the clock until `end`, from `last` on. */
static double longest_gap(double last, double end, int yields) {
  double longest = 0;
  while (last < end) {
    if (yields) sched_yield();
    const double look = now();
    if (look - last > longest) longest = look - last;
    last = look;
  }
  return longest;
}

static void be_moved(const int cores[2], double seconds, int moves, pid_t yielding, pid_t other) {
  longest_gap(now(), now() + seconds, 1);
  for (int move = 1; move <= moves; ++move) {
    const int there = move % 2;
    const double clocks[] = {virtual_clock(getpid()), virtual_clock(yielding),
                             virtual_clock(other)};
    const double begin = now();
    move_to(cores[there]);
    const double gap = now() - begin, after = virtual_clock(getpid());
    const double later = longest_gap(now(), now() + seconds, !there);
    printf("%d %.6f %.3f %.3f %.3f %.3f\n", cores[there], gap > later ? gap : later, clocks[0],
           after, clocks[1], clocks[2]);
    fflush(stdout);
  }
}

int main(int argc, char** argv) {
  static pid_t processes[2 * kProcesses];
  const int yielding = argc == 8 ? atoi(argv[2]) : 0, others = argc == 8 ? atoi(argv[3]) : 0;
  if (yielding < 1 || others < 1 || yielding > kProcesses || others > kProcesses) {
    fprintf(stderr, "starve: sleep|compute|yield YIELDING OTHERS SECONDS MOVES FROM TO\n");
    return 2;
  }
  const int cores[2] = {atoi(argv[6]), atoi(argv[7])};
  start_others("yield", yielding, cores[0], processes);
  start_others(argv[1], others, cores[1], &processes[yielding]);
  move_to(cores[0]);
  be_moved(cores, atof(argv[4]), atoi(argv[5]), processes[0], processes[yielding]);
  for (int k = 0; k < yielding + others; ++k) kill(processes[k], SIGKILL);
  while (wait(NULL) > 0) continue;
  return 0;
}
