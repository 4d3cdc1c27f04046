#include "mpi/private_communicator.h"

#include "mpi/comm.h"
#include "mpi/threads.h"

namespace unisono {

namespace {

/// What make(&made) makes of `comm`. The program's error handler may end the job for an error that
/// is none to it, and stands aside where no other thread may be setting it, or in need of it.
template <class Make>
MPI_Comm made_of(MPI_Comm comm, const Make& make) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  const bool stands_aside = !several_threads();
  if (stands_aside) {
    PMPI_Comm_get_errhandler(comm, &handler);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  const int rc = make(&made);
  if (stands_aside) PMPI_Comm_set_errhandler(comm, handler);
  if (handler != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&handler);
  if (rc != MPI_SUCCESS || made == MPI_COMM_NULL) return MPI_COMM_NULL;
  PMPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

}  // namespace

// MPI_Comm_dup would call the copy functions of the program's own attributes.
MPI_Comm private_communicator(MPI_Comm comm) {
  MPI_Group group = group_of(comm);
  const MPI_Comm made =
      made_of(comm, [&](MPI_Comm* to) { return PMPI_Comm_create(comm, group, to); });
  PMPI_Group_free(&group);
  return made;
}

// Not of MPI_COMM_SELF: once a handler has been set there, MPICH raises errors without a
// communicator there, and no longer on MPI_COMM_WORLD.
MPI_Comm private_self() {
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_SELF, &group);
  const auto made_within = [group](MPI_Comm comm) {
    return made_of(comm, [=](MPI_Comm* to) { return PMPI_Comm_create_group(comm, group, 0, to); });
  };
  MPI_Comm made = made_within(MPI_COMM_WORLD);
#ifdef OPEN_MPI
  // It makes nothing within a communicator of which a rank has died.
  if (made == MPI_COMM_NULL) made = made_within(MPI_COMM_SELF);
#endif
  PMPI_Group_free(&group);
  return made;
}

}  // namespace unisono
