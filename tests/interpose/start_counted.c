/* How many calls that all ranks of a communicator must make Unisono makes in MPI_Init, and how many
   messages from rank to rank it sends: what the program itself defines as PMPI_* is called first,
   by Unisono too. Rank 0 prints the most that any rank made. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int calls, messages;

#define COUNTED_AS(kind, name, parameters, arguments)                   \
  __attribute__((visibility("default"))) int PMPI_##name parameters {   \
    static int(*next) parameters;                                       \
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_" #name); \
    int size = 1;                                                       \
    PMPI_Comm_size(comm, &size);                                        \
    kind += size > 1;                                                   \
    return next arguments;                                              \
  }
#define COUNTED(name, parameters, arguments) COUNTED_AS(calls, name, parameters, arguments)

COUNTED_AS(messages, Send,
           (const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
           (data, n, type, to, tag, comm))
COUNTED_AS(messages, Isend,
           (const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
            MPI_Request* request),
           (data, n, type, to, tag, comm, request))
COUNTED_AS(messages, Sendrecv,
           (const void* data, int n, MPI_Datatype type, int to, int tag, void* into, int m,
            MPI_Datatype got, int from, int received, MPI_Comm comm, MPI_Status* status),
           (data, n, type, to, tag, into, m, got, from, received, comm, status))

COUNTED(Allreduce, (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (in, out, n, type, op, comm))
COUNTED(Iallreduce,
        (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
         MPI_Request* request),
        (in, out, n, type, op, comm, request))
COUNTED(Reduce,
        (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
        (in, out, n, type, op, root, comm))
COUNTED(Bcast, (void* data, int n, MPI_Datatype type, int root, MPI_Comm comm),
        (data, n, type, root, comm))
COUNTED(Ibcast,
        (void* data, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request),
        (data, n, type, root, comm, request))
COUNTED(Barrier, (MPI_Comm comm), (comm))
COUNTED(Ibarrier, (MPI_Comm comm, MPI_Request* request), (comm, request))
COUNTED(Allgather,
        (const void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype to,
         MPI_Comm comm),
        (in, n, type, out, m, to, comm))
COUNTED(Gather,
        (const void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype to, int root,
         MPI_Comm comm),
        (in, n, type, out, m, to, root, comm))
COUNTED(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made), (comm, color, key, made))
COUNTED(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
        (comm, type, key, info, made))
COUNTED(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* made), (comm, group, made))
COUNTED(Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int in_init[] = {calls, messages}, most[2] = {0}, rank = 0;
  MPI_Reduce(in_init, most, 2, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("%d %d\n", most[0], most[1]);
  return MPI_Finalize();
}
