// MPI_Comm_free and MPI_Comm_disconnect in Fortran, where the Fortran library calls PMPI_* itself:
// see freed_communicator.cpp.
#include "comm/being_freed.h"
#include "interpose/entry.h"
#include "interpose/fortran.h"
#include "interpose/next.h"

using namespace unisono;

namespace {

template <class Native>
void free_communicator(int* comm, int* ierror) {
  const BeingFreed being_freed(fortran::comm(comm));
  Native::call(comm, ierror);
}

}  // namespace

ENTRY void mpi_comm_free_f08_(int* comm, int* ierror) {
  free_communicator<Next<"mpi_comm_free_f08_", decltype(mpi_comm_free_f08_)>>(comm, ierror);
}

ENTRY void mpi_comm_disconnect_f08_(int* comm, int* ierror) {
  free_communicator<Next<"mpi_comm_disconnect_f08_", decltype(mpi_comm_disconnect_f08_)>>(comm,
                                                                                          ierror);
}

#ifdef OPEN_MPI
ENTRY void mpi_comm_free_(int* comm, int* ierror) {
  free_communicator<Next<"mpi_comm_free_", decltype(mpi_comm_free_)>>(comm, ierror);
}
FORTRAN_SPELLINGS(mpi_comm_free, MPI_COMM_FREE, (int* comm, int* ierror))

ENTRY void mpi_comm_disconnect_(int* comm, int* ierror) {
  free_communicator<Next<"mpi_comm_disconnect_", decltype(mpi_comm_disconnect_)>>(comm, ierror);
}
FORTRAN_SPELLINGS(mpi_comm_disconnect, MPI_COMM_DISCONNECT, (int* comm, int* ierror))
#endif  // OPEN_MPI
