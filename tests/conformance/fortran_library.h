// What fortran_library.c has, by the names that Fortran compilers call.
#pragma once
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void FortranFree(MPI_Fint* comm, MPI_Fint* ierror);
typedef void FortranSession(MPI_Fint* info, MPI_Fint* handler, MPI_Fint* session, MPI_Fint* ierror);

FortranFree mpi_comm_free_f08_, mpi_comm_disconnect_f08_;
FortranSession mpi_session_init_f08_;

#ifdef OPEN_MPI  // MPICH's older names call what C programs call
FortranFree mpi_comm_free, mpi_comm_free_, mpi_comm_free__, MPI_COMM_FREE;
FortranFree mpi_comm_disconnect, mpi_comm_disconnect_, mpi_comm_disconnect__, MPI_COMM_DISCONNECT;
FortranSession mpi_session_init, mpi_session_init_, mpi_session_init__, MPI_SESSION_INIT;
#endif

#ifdef __cplusplus
}
#endif
