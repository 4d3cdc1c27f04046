/* Preloaded into a native program: each rank sleeps for up to 0.3 ms after some collectives, as it may where others
 * use its core. What a program then prints differently depends on who comes late, and on no library.
 *
 *   mpicc -shared -fPIC late.c -o late.so; LD_PRELOAD=./late.so mpiexec -n 4 PROGRAM
 */
#include <mpi.h>
#include <time.h>
#include <unistd.h>

static void nap(void) {
  static unsigned state;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (state == 0) state = (unsigned)now.tv_nsec ^ (unsigned)getpid() * 2654435761u;
  state = state * 1664525u + 1013904223u;
  usleep((state >> 16) % 300);
}

int MPI_Allreduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) {
  const int code = PMPI_Allreduce(a, b, n, t, o, c);
  nap();
  return code;
}
int MPI_Allgather(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c) {
  const int code = PMPI_Allgather(a, n, t, b, m, u, c);
  nap();
  return code;
}
int MPI_Alltoall(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c) {
  const int code = PMPI_Alltoall(a, n, t, b, m, u, c);
  nap();
  return code;
}
int MPI_Bcast(void *a, int n, MPI_Datatype t, int q, MPI_Comm c) {
  const int code = PMPI_Bcast(a, n, t, q, c);
  nap();
  return code;
}
