/* A library whose functions are called like some of MPI's in Fortran, as Rmpi's are: wrappers with
 * arguments of their own. -DUNDERSCORES: with the names that programs use. */
#include <dlfcn.h>
#include <stdio.h>

typedef void* (*Wrapper)(void*);

#ifdef UNDERSCORES
#define OWN(name) name##_
#else
#define OWN(name) name
#endif

/* Each returns what it was given, which MPI's do not. */
#define WRAPPER(name) \
  void* OWN(name)(void* argument) { return argument; }
WRAPPER(mpi_barrier)
WRAPPER(mpi_bcast)
WRAPPER(mpi_allreduce)
WRAPPER(mpi_comm_dup)

/* As R calls them: by addresses that the dynamic linker has written into a table. */
Wrapper own_table[] = {OWN(mpi_barrier), OWN(mpi_bcast), OWN(mpi_allreduce), OWN(mpi_comm_dup)};

/* And as functions of the library call each other. */
int own_calls(void) {
  int x = 0;
  void* volatile argument = &x;
  return OWN(mpi_barrier)(argument) == &x && OWN(mpi_bcast)(argument) == &x &&
         OWN(mpi_allreduce)(argument) == &x;
}
