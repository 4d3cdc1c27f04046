#include "mpi/private_communicator.h"

#include "mpi/comm.h"
#include "mpi/threads.h"

namespace unisono {

MPI_Comm private_communicator(MPI_Comm comm) {
  MPI_Comm made = MPI_COMM_NULL;
  int rc = MPI_SUCCESS;
  // MPI_Comm_dup would call the copy functions of the program's own attributes.
  MPI_Group group = group_of(comm);
  if (several_threads()) {  // another one may be setting the handler, or in need of it
    rc = PMPI_Comm_create(comm, group, &made);
  } else {  // the program's may end the job for an error that is none to it
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    PMPI_Comm_get_errhandler(comm, &handler);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    rc = PMPI_Comm_create(comm, group, &made);
    PMPI_Comm_set_errhandler(comm, handler);
    if (handler != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&handler);
  }
  PMPI_Group_free(&group);
  if (rc != MPI_SUCCESS || made == MPI_COMM_NULL) return MPI_COMM_NULL;
  PMPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

}  // namespace unisono
