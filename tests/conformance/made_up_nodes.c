/* Between Unisono and the MPI library: nodes that are not there, two or as many as MADE_UP_NODES
   says, joined by a network of 100 Mb/s. They take ranks in turn, so that no algorithm keeps to
   nodes that does not know of them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#define LATENCY 50                 /* us */
#define BYTES_PER_MICROSECOND 12.5 /* 100 Mb/s */

/* The launcher knows that there is one node. */
__attribute__((constructor)) static void let_nobody_ask_the_launcher(void) {
  unsetenv("MPI_LOCALNRANKS");
  unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
}

static int nodes(void) {
  const char* wanted = getenv("MADE_UP_NODES");
  return wanted != NULL ? atoi(wanted) : 2;
}

static int node_in(MPI_Comm comm, int rank) {
  MPI_Group all, some;
  int number = 0;
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  PMPI_Comm_group(comm, &some);
  PMPI_Group_translate_ranks(some, 1, &rank, all, &number);
  PMPI_Group_free(&all);
  PMPI_Group_free(&some);
  return number % nodes();
}

static void travel(MPI_Comm comm, int to, int bytes) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  if (node_in(comm, rank) != node_in(comm, to))
    usleep(LATENCY + (useconds_t)(bytes / BYTES_PER_MICROSECOND));
}

int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part) {
  int rank = 0;
  (void)type, (void)info;
  PMPI_Comm_rank(comm, &rank);
  return PMPI_Comm_split(comm, node_in(comm, rank), key, part);
}

int PMPI_Send(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  static int (*next)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Send");
  travel(comm, to, n);
  return next(data, n, type, to, tag, comm);
}

int PMPI_Sendrecv(const void* data, int n, MPI_Datatype type, int to, int tag, void* into, int m,
                  MPI_Datatype into_type, int from, int into_tag, MPI_Comm comm,
                  MPI_Status* status) {
  static int (*next)(const void*, int, MPI_Datatype, int, int, void*, int, MPI_Datatype, int, int,
                     MPI_Comm, MPI_Status*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Sendrecv");
  travel(comm, to, n);
  return next(data, n, type, to, tag, into, m, into_type, from, into_tag, comm, status);
}
