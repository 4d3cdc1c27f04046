// MPI_Comm_split, MPI_Comm_free and MPI_Comm_disconnect: they tell when a communicator that has no
// attribute yet begins and ends (comm/unattached.h). Needed where attributes are dear, which is
// under Open MPI. Its Fortran library calls PMPI_Comm_free itself.
#include <mpi.h>

#ifdef OPEN_MPI
#include "comm/unattached.h"
#include "interpose/entry.h"
#include "interpose/fortran.h"
#include "interpose/next.h"

using namespace unisono;

namespace {

template <class Native>
int end(MPI_Comm* comm) {
  const CommunicatorFree within(comm != nullptr ? *comm : MPI_COMM_NULL);
  return Native::call(comm);
}

template <class Native>
void end_in_fortran(int* comm, int* ierror) {
  const CommunicatorFree within(fortran::comm(comm));
  Native::call(comm, ierror);
}

}  // namespace

ENTRY int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  const int code = Next<"MPI_Comm_split", decltype(MPI_Comm_split)>::call(comm, color, key, made);
  if (code == MPI_SUCCESS) after_split(*made);
  return code;
}

ENTRY int MPI_Comm_free(MPI_Comm* comm) {
  return end<Next<"MPI_Comm_free", decltype(MPI_Comm_free)>>(comm);
}

ENTRY int MPI_Comm_disconnect(MPI_Comm* comm) {
  return end<Next<"MPI_Comm_disconnect", decltype(MPI_Comm_disconnect)>>(comm);
}

ENTRY void mpi_comm_free_(int* comm, int* ierror) {
  end_in_fortran<Next<"mpi_comm_free_", decltype(mpi_comm_free_)>>(comm, ierror);
}
FORTRAN_SPELLINGS(mpi_comm_free, MPI_COMM_FREE, (int* comm, int* ierror))

ENTRY void mpi_comm_disconnect_(int* comm, int* ierror) {
  end_in_fortran<Next<"mpi_comm_disconnect_", decltype(mpi_comm_disconnect_)>>(comm, ierror);
}
FORTRAN_SPELLINGS(mpi_comm_disconnect, MPI_COMM_DISCONNECT, (int* comm, int* ierror))

ENTRY void mpi_comm_free_f08_(int* comm, int* ierror) {
  end_in_fortran<Next<"mpi_comm_free_f08_", decltype(mpi_comm_free_f08_)>>(comm, ierror);
}

ENTRY void mpi_comm_disconnect_f08_(int* comm, int* ierror) {
  end_in_fortran<Next<"mpi_comm_disconnect_f08_", decltype(mpi_comm_disconnect_f08_)>>(comm,
                                                                                       ierror);
}
#endif  // OPEN_MPI
