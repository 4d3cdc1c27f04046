// MPI_Op_free in Fortran, where the Fortran library calls PMPI_Op_free itself: see operation.cpp.
#include "calls/retained_operation.h"
#include "interpose/entry.h"
#include "interpose/fortran.h"
#include "interpose/next.h"

using namespace unisono;

namespace {

template <class Native>
void free_operation(int* op, int* ierror) {
  if (!frees_later(fortran::operation(op))) return Native::call(op, ierror);
  *op = fortran::no_operation();
  if (ierror != nullptr) *ierror = MPI_SUCCESS;
}

}  // namespace

ENTRY void mpi_op_free_f08_(int* op, int* ierror) {
  free_operation<Next<"mpi_op_free_f08_", decltype(mpi_op_free_f08_)>>(op, ierror);
}

#ifdef OPEN_MPI
ENTRY void mpi_op_free_(int* op, int* ierror) {
  free_operation<Next<"mpi_op_free_", decltype(mpi_op_free_)>>(op, ierror);
}
FORTRAN_SPELLING(mpi_op_free, (int* op, int* ierror));
#endif  // OPEN_MPI
