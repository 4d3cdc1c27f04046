// MPI_Op_free: while a request in flight uses the operation, it is freed later. Its handle is
// MPI_OP_NULL at once, as the program expects.
#include <mpi.h>

#include "calls/retained_operation.h"
#include "interpose/entry.h"
#include "interpose/next.h"

using namespace unisono;

ENTRY int MPI_Op_free(MPI_Op* op) {
  if (op == nullptr || !frees_later(*op))
    return Next<"MPI_Op_free", decltype(MPI_Op_free)>::call(op);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}
