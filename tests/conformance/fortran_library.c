// Stands for the Fortran library of an MPI library that has none here: those of its functions that
// call PMPI_* and matter to Unisono beside the collectives.
#include "fortran_library.h"

static void end(int (*function)(MPI_Comm*), MPI_Fint* comm, MPI_Fint* ierror) {
  MPI_Comm handle = PMPI_Comm_f2c(*comm);
  const int code = function(&handle);
  if (ierror) *ierror = code;
  *comm = PMPI_Comm_c2f(handle);
}

void mpi_comm_free_f08_(MPI_Fint* comm, MPI_Fint* ierror) { end(PMPI_Comm_free, comm, ierror); }

void mpi_comm_disconnect_f08_(MPI_Fint* comm, MPI_Fint* ierror) {
  end(PMPI_Comm_disconnect, comm, ierror);
}

void mpi_session_init_f08_(MPI_Fint* info, MPI_Fint* handler, MPI_Fint* session, MPI_Fint* ierror) {
  MPI_Session made = MPI_SESSION_NULL;
  const int code = PMPI_Session_init(PMPI_Info_f2c(*info), PMPI_Errhandler_f2c(*handler), &made);
  if (ierror) *ierror = code;
  *session = PMPI_Session_c2f(made);
}

#ifdef OPEN_MPI
#define SPELLINGS(type, lower, upper)                    \
  type lower __attribute__((alias(#lower "_f08_")));     \
  type lower##_ __attribute__((alias(#lower "_f08_")));  \
  type lower##__ __attribute__((alias(#lower "_f08_"))); \
  type upper __attribute__((alias(#lower "_f08_")));
SPELLINGS(FortranFree, mpi_comm_free, MPI_COMM_FREE)
SPELLINGS(FortranFree, mpi_comm_disconnect, MPI_COMM_DISCONNECT)
SPELLINGS(FortranSession, mpi_session_init, MPI_SESSION_INIT)
#endif
