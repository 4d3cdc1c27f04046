// Preloaded under the ranks of an MPI library that spins while it waits and cannot be told
// otherwise (Intel MPI 2021.19, MPICH 4.0): every 500 us a rank gives its core away. A barrier of 5
// ranks on 2 cores then takes 1 to 2 ms instead of 20. For tests of results only;
// UNISONO_TEST_NAP=1 turns it on.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

static const long kPeriodNs = 500 * 1000;  // at 100 us Intel MPI's start does not get on

static void nap(int number) {
  (void)number;
  const int kept = errno;
  const struct timespec moment = {0, 1000};
  nanosleep(&moment, NULL);
  errno = kept;
}

__attribute__((constructor)) static void start(void) {
  if (getenv("UNISONO_TEST_NAP") == NULL || getenv("PMI_RANK") == NULL) return;  // not the launcher
  // SIGURG: ignored by default, and no library here uses it.
  struct sigaction action = {.sa_handler = nap, .sa_flags = SA_RESTART};
  sigaction(SIGURG, &action, NULL);
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGURG};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return;
  const struct itimerspec period = {{0, kPeriodNs}, {0, kPeriodNs}};
  timer_settime(timer, 0, &period, NULL);
}
