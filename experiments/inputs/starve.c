/* How long a process does not run after it was moved to another core where it is not alone. No MPI.
 *
 *   starve WAY HOW SESSIONS YIELDING OTHERS SECONDS MOVES CORE_FROM CORE_TO
 *
 * On CORE_FROM YIELDING processes and the victim call sched_yield in a loop. On CORE_TO OTHERS do
 * WAY: `sleep` (each two pass a byte to and fro by pipes, so that each sleeps and wakes and the
 * core is never idle), `compute` (they never wait), or `yield`. Each SECONDS the victim is moved to
 * the other core by sched_setaffinity, HOW: `awake`, or `asleep`, and woken there. On CORE_TO it
 * only reads the clock. SESSIONS: `one` for all, or one for `each`, or `odd`: one for every second.
 * Linux may share a core out among sessions first (sched_autogroup_enabled).
 *
 * Writes a line for each of the MOVES: `CORE GAP BEFORE AFTER YIELDING OTHER`: the core it was
 * moved to, the longest time in seconds from the move on that it did not run, its se.vruntime in ms
 * before and after the move, and that of a process of either core before it (-1: not readable). */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kProcesses = 256, kSleeps = -1 };

/* What the victim and the process that moves it tell each other. */
typedef struct {
  atomic_int move;     /* its number: after odd ones the victim is on CORE_TO; or kSleeps */
  _Atomic double last; /* when the victim last ran */
  _Atomic double gap;  /* the longest until then */
  _Atomic double clock;
} Shared;

static Shared* g_shared;
static enum { kOne, kEach, kOdd } g_sessions;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pause_for(double seconds) {
  const long whole = (long)seconds;
  const struct timespec t = {whole, (long)(1e9 * (seconds - (double)whole))};
  nanosleep(&t, NULL);
}

static void move_to(pid_t process, int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (sched_setaffinity(process, sizeof set, &set) != 0) _exit(3);
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

static void be_victim(int wakes) {
  char byte;
  int known = 0;
  for (;;) {
    const int move = atomic_load(&g_shared->move);
    if (move == kSleeps) {
      if (read(wakes, &byte, 1) != 1) _exit(3);
      continue;
    }
    if (move % 2 == 0) sched_yield();
    const double look = now(), gap = look - atomic_load(&g_shared->last);
    if (gap > atomic_load(&g_shared->gap)) atomic_store(&g_shared->gap, gap);
    if (move != known) atomic_store(&g_shared->clock, virtual_clock(getpid()));
    known = move;
    atomic_store(&g_shared->last, now());
  }
}

/* The number-th process; returns 0 in the new one only. */
static pid_t started(int core, int number) {
  const pid_t made = fork();
  if (made != 0) return made;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (g_sessions == kEach || (g_sessions == kOdd && number % 2 == 1)) setsid();
  move_to(0, core);
  return 0;
}

static void start_others(const char* way, int count, int core, pid_t* processes) {
  int to[2], back[2];
  for (int k = 0; k < count; ++k) {
    if (k % 2 == 0 && (pipe(to) != 0 || pipe(back) != 0)) exit(3);
    processes[k] = started(core, k);
    if (processes[k] != 0) continue;
    if (strcmp(way, "yield") == 0) yield_for_ever();
    if (strcmp(way, "compute") == 0) compute_for_ever();
    pass_for_ever(k % 2 == 0 ? back[0] : to[0], k % 2 == 0 ? to[1] : back[1], k % 2 == 0);
  }
}

/* `wakes`: a pipe where it sleeps meanwhile, or -1. */
static void move(int number, pid_t victim, int core, int wakes) {
  if (wakes >= 0) {
    atomic_store(&g_shared->move, kSleeps);
    pause_for(0.1);
    atomic_store(&g_shared->last, now());
  }
  atomic_store(&g_shared->gap, 0);
  move_to(victim, core);
  atomic_store(&g_shared->move, number);
  if (wakes >= 0 && write(wakes, "", 1) != 1) exit(3);
}

static void move_often(pid_t victim, const pid_t others[2], const int cores[2], double seconds,
                       int moves, int wakes) {
  pause_for(seconds);
  for (int number = 1; number <= moves; ++number) {
    const int core = cores[number % 2];
    const double before = virtual_clock(victim), yielding = virtual_clock(others[0]),
                 other = virtual_clock(others[1]);
    move(number, victim, core, wakes);
    pause_for(seconds);
    const double gap = atomic_load(&g_shared->gap), still = now() - atomic_load(&g_shared->last);
    printf("%d %.6f %.3f %.3f %.3f %.3f\n", core, gap > still ? gap : still, before,
           atomic_load(&g_shared->clock), yielding, other);
    fflush(stdout);
  }
}

int main(int argc, char** argv) {
  static pid_t processes[2 * kProcesses];
  const int yielding = argc == 10 ? atoi(argv[4]) : 0, count = argc == 10 ? atoi(argv[5]) : 0;
  if (yielding < 1 || count < 1 || yielding > kProcesses || count > kProcesses) {
    fprintf(stderr,
            "starve: sleep|compute|yield awake|asleep one|each|odd YIELDING OTHERS SECONDS MOVES "
            "FROM TO\n");
    return 2;
  }
  const int cores[2] = {atoi(argv[8]), atoi(argv[9])};
  int wakes[2];
  g_sessions = strcmp(argv[3], "each") == 0 ? kEach : strcmp(argv[3], "odd") == 0 ? kOdd : kOne;
  g_shared =
      mmap(NULL, sizeof *g_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (g_shared == MAP_FAILED || pipe(wakes) != 0) return 3;
  start_others("yield", yielding, cores[0], processes);
  start_others(argv[1], count, cores[1], &processes[yielding]);
  atomic_store(&g_shared->last, now());
  const pid_t victim = started(cores[0], 0), others[] = {processes[0], processes[yielding]};
  if (victim == 0) be_victim(wakes[0]);
  move_often(victim, others, cores, atof(argv[6]), atoi(argv[7]),
             strcmp(argv[2], "asleep") == 0 ? wakes[1] : -1);
  kill(victim, SIGKILL);
  for (int k = 0; k < yielding + count; ++k) kill(processes[k], SIGKILL);
  while (wait(NULL) > 0) continue;
  return 0;
}
