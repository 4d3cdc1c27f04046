// MPICH polls its sockets as long as it waits. In the lab the ranks of all hosts share a few cores,
// and each of them would keep one for whole time slices from those that it waits for: 16 ranks on
// two cores took 4.2 s for a Reduce that takes 0.08 s where a core is given away. Under a real
// cluster's MPICH, with a core for every rank, nobody waits so. Open MPI has a setting for this
// (mpi_yield_when_idle); this library does the same for UCX: who looks and finds nothing gives its
// core away.
//
// Preloaded by `unisono lab run`, with Unisono and without alike (docs/adr/0032).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <sys/epoll.h>

typedef int (*EpollWait)(int, struct epoll_event*, int, int);

__attribute__((visibility("default")))  // this one, in front of libc's
int epoll_wait(int epoll, struct epoll_event* events, int most, int timeout) {
  static EpollWait next;  // the same whichever thread writes it
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "epoll_wait");
  const int found = next(epoll, events, most, timeout);
  if (found == 0 && timeout == 0) sched_yield();
  return found;
}
