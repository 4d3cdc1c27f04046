// MPI_Comm_idup, on whatever way: Open MPI's Fortran libraries call PMPI_* (see
// freed_communicator.cpp). Other MPI libraries do not mind.
#include <mpi.h>

#ifdef OPEN_MPI
#include "comm/duplicating.h"
#include "interpose/entry.h"
#include "interpose/next.h"

using namespace unisono;

namespace {

template <class Native, class... Arguments>
int duplicate(Arguments... arguments) {
  note_duplicating();
  return Native::call(arguments...);
}

}  // namespace

ENTRY int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  return duplicate<Next<"MPI_Comm_idup", decltype(MPI_Comm_idup)>>(comm, made, request);
}

ENTRY int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  return duplicate<Next<"PMPI_Comm_idup", decltype(PMPI_Comm_idup)>>(comm, made, request);
}

ENTRY int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made,
                                  MPI_Request* request) {
  return duplicate<Next<"MPI_Comm_idup_with_info", decltype(MPI_Comm_idup_with_info)>>(
      comm, info, made, request);
}

ENTRY int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made,
                                   MPI_Request* request) {
  return duplicate<Next<"PMPI_Comm_idup_with_info", decltype(PMPI_Comm_idup_with_info)>>(
      comm, info, made, request);
}
#endif  // OPEN_MPI
