// MPI_Comm_free and MPI_Comm_disconnect: what delete functions call on a communicator that is freed
// is left to the MPI library, on whatever way it is freed: a tool that stands before Unisono calls
// PMPI_*, and so do Fortran libraries. Those are no part of the MPI library itself, so that the
// dynamic linker leads their calls here.
#include <mpi.h>

#include "calls/in_flight.h"
#include "comm/being_freed.h"
#include "interpose/entry.h"
#include "interpose/next.h"

using namespace unisono;

namespace {

template <class Native>
int free_communicator(MPI_Comm* comm) {
  if (comm == nullptr) return Native::call(comm);
  forget_done();
  const BeingFreed being_freed(*comm);
  return Native::call(comm);
}

}  // namespace

ENTRY int MPI_Comm_free(MPI_Comm* comm) {
  return free_communicator<Next<"MPI_Comm_free", decltype(MPI_Comm_free)>>(comm);
}

ENTRY int PMPI_Comm_free(MPI_Comm* comm) {
  return free_communicator<Next<"PMPI_Comm_free", decltype(PMPI_Comm_free)>>(comm);
}

ENTRY int MPI_Comm_disconnect(MPI_Comm* comm) {
  return free_communicator<Next<"MPI_Comm_disconnect", decltype(MPI_Comm_disconnect)>>(comm);
}

ENTRY int PMPI_Comm_disconnect(MPI_Comm* comm) {
  return free_communicator<Next<"PMPI_Comm_disconnect", decltype(PMPI_Comm_disconnect)>>(comm);
}
