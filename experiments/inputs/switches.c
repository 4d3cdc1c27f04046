/* What a round costs in which each of several ranks must run once, where ranks share cores: the
 * least that a barrier of them can take.
 *
 *   switches WAY KIND RANKS ROUNDS CORE...
 *
 * RANKS threads or processes (KIND), as many pinned to each core. In a round each comes to one
 * counter; the last to come lets all go on. Until then they wait by WAY: `futex` (blocked, woken
 * all at once), `shared` (blocked on a word of their core, so that the last to come wakes its own
 * core and one of each other, which wakes its neighbours), or `yield` (sched_yield in a loop).
 * Cores do this at the same time, so nothing waits for a core that is idle. Writes the seconds of a
 * round, and how often each rank was switched out in one. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kCores = 256, kWarm = 100 };

typedef struct {
  _Alignas(128) atomic_int round;
} Word;

typedef struct {
  _Alignas(128) atomic_int come;
  _Atomic double seconds;
  Word words[kCores]; /* by core; where all wait for one, the first */
  atomic_int woken[kCores];
} Shared;

static Shared* g_shared;
static enum { kFutex, kCoreFutex, kYield } g_way;
static int g_ranks, g_rounds, g_core_count, g_cores[kCores];
static int g_private; /* FUTEX_PRIVATE_FLAG among threads: what a program of threads would take */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wake(atomic_int* word, int most) {
  syscall(SYS_futex, word, FUTEX_WAKE | g_private, most, NULL, NULL, 0);
}

static void wait_for(Word* word, int round) {
  while (atomic_load_explicit(&word->round, memory_order_acquire) == round) {
    if (g_way == kYield)
      sched_yield();
    else
      syscall(SYS_futex, &word->round, FUTEX_WAIT | g_private, round, NULL, NULL, 0);
  }
}

/* The first to run on a core wakes the others there. */
static void wake_core(int core) {
  if (atomic_exchange(&g_shared->woken[core], 1) == 0) wake(&g_shared->words[core].round, g_ranks);
}

static void release(int core, int round) {
  const int words = g_way == kCoreFutex ? g_core_count : 1;
  for (int k = 0; k < words; ++k) {
    atomic_store(&g_shared->woken[k], 0);
    atomic_store_explicit(&g_shared->words[k].round, round + 1, memory_order_release);
  }
  if (g_way == kFutex) wake(&g_shared->words[0].round, g_ranks);
  if (g_way != kCoreFutex) return;
  for (int k = 0; k < words; ++k)
    if (k != core) wake(&g_shared->words[k].round, 1);
  wake_core(core);
}

static void meet(int core, int round) {
  if (atomic_fetch_add(&g_shared->come, 1) == g_ranks - 1) {
    atomic_store(&g_shared->come, 0);
    release(core, round);
    return;
  }
  wait_for(&g_shared->words[g_way == kCoreFutex ? core : 0], round);
  if (g_way == kCoreFutex) wake_core(core);
}

static void* rank(void* which) {
  const int own = (int)(long)which, core = own % g_core_count;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(g_cores[core], &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) exit(3);
  for (int round = 0; round < kWarm; ++round) meet(core, round);
  const double begin = now();
  for (int round = kWarm; round < kWarm + g_rounds; ++round) meet(core, round);
  if (own == 0) atomic_store(&g_shared->seconds, now() - begin);
  return NULL;
}

static void run_threads(void) {
  pthread_t* threads = calloc((size_t)g_ranks, sizeof *threads);
  for (long k = 0; k < g_ranks; ++k)
    if (pthread_create(&threads[k], NULL, rank, (void*)k) != 0) exit(3);
  for (int k = 0; k < g_ranks; ++k) pthread_join(threads[k], NULL);
  free(threads);
}

static int run_processes(void) {
  for (long k = 0; k < g_ranks; ++k) {
    const pid_t made = fork();
    if (made < 0) return 3;
    if (made == 0) {
      rank((void*)k);
      _exit(0);
    }
  }
  int worst = 0, status;
  while (wait(&status) > 0) worst |= status;
  return worst;
}

int main(int argc, char** argv) {
  const char* ways[] = {"futex", "shared", "yield"};
  int way = 0;
  while (argc > 5 && way < 3 && strcmp(argv[1], ways[way]) != 0) ++way;
  const int threads = argc > 5 && strcmp(argv[2], "threads") == 0;
  if (argc <= 5 || argc - 5 > kCores || way == 3) {
    fprintf(stderr, "switches: futex|shared|yield threads|processes RANKS ROUNDS CORE...\n");
    return 2;
  }
  g_way = way;
  g_ranks = atoi(argv[3]);
  g_rounds = atoi(argv[4]);
  for (int k = 5; k < argc; ++k) g_cores[g_core_count++] = atoi(argv[k]);
  g_shared =
      mmap(NULL, sizeof *g_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (g_shared == MAP_FAILED) return 3;
  int status = 0;
  g_private = threads ? FUTEX_PRIVATE_FLAG : 0;
  if (threads)
    run_threads();
  else
    status = run_processes();
  struct rusage used;
  getrusage(threads ? RUSAGE_SELF : RUSAGE_CHILDREN, &used);
  const double switches = (double)(used.ru_nvcsw + used.ru_nivcsw);
  printf("%.9f %.2f\n", g_shared->seconds / g_rounds, switches / g_ranks / (g_rounds + kWarm));
  return status != 0;
}
