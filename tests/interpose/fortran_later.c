/* Stands for the Fortran library of Open MPI 5, as far as it has more than Debian's: a program
 * finds the names of persistent collectives, and Unisono must run them. As in Open MPI each has its
 * profiling form beside it. */
#include <stdio.h>
#include <stdlib.h>

static void called(const char* name) {
  fprintf(stderr, "fortran_later.c: %s was not run by Unisono\n", name);
  abort();
}

#define FUNCTION(name)               \
  void name(void);                   \
  void p##name(void);                \
  void name(void) { called(#name); } \
  void p##name(void) { called("p" #name); }
#define STANDS_FOR(name) FUNCTION(mpi_##name##_init_) FUNCTION(mpi_##name##_init_f08_)

STANDS_FOR(barrier)
STANDS_FOR(bcast)
STANDS_FOR(gather)
STANDS_FOR(gatherv)
STANDS_FOR(scatter)
STANDS_FOR(scatterv)
STANDS_FOR(allgather)
STANDS_FOR(allgatherv)
STANDS_FOR(alltoall)
STANDS_FOR(alltoallv)
STANDS_FOR(alltoallw)
STANDS_FOR(reduce)
STANDS_FOR(allreduce)
STANDS_FOR(reduce_scatter_block)
STANDS_FOR(reduce_scatter)
STANDS_FOR(scan)
STANDS_FOR(exscan)
STANDS_FOR(neighbor_allgather)
STANDS_FOR(neighbor_allgatherv)
STANDS_FOR(neighbor_alltoall)
STANDS_FOR(neighbor_alltoallv)
STANDS_FOR(neighbor_alltoallw)
