// MPI_Start, MPI_Startall and MPI_Request_free of persistent collectives that Unisono runs. Fortran
// libraries and tools that stand before Unisono call PMPI_*.
#include "calls/persistent.h"

#include <mpi.h>

#include "interpose/entry.h"
#include "interpose/next.h"

using namespace unisono;

namespace {

template <class Native>
int start_one(MPI_Request* request) {
  if (has_persistent() && request != nullptr)
    if (const auto code = start_persistent(*request)) return *code;
  return Native::call(request);
}

template <class Native, class NativeOne>
int start_all(int count, MPI_Request* requests) {
  if (!has_persistent() || requests == nullptr || count < 0) return Native::call(count, requests);
  for (int i = 0; i < count; ++i)
    if (const int code = start_one<NativeOne>(&requests[i]); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

template <class Native>
int free_request(MPI_Request* request) {
  if (has_persistent() && request != nullptr) forget_persistent(*request);
  return Native::call(request);
}

using Start = Next<"MPI_Start", decltype(MPI_Start)>;
using PStart = Next<"PMPI_Start", decltype(PMPI_Start)>;

}  // namespace

ENTRY int MPI_Start(MPI_Request* request) { return start_one<Start>(request); }
ENTRY int PMPI_Start(MPI_Request* request) { return start_one<PStart>(request); }

ENTRY int MPI_Startall(int count, MPI_Request requests[]) {
  return start_all<Next<"MPI_Startall", decltype(MPI_Startall)>, Start>(count, requests);
}
ENTRY int PMPI_Startall(int count, MPI_Request requests[]) {
  return start_all<Next<"PMPI_Startall", decltype(PMPI_Startall)>, PStart>(count, requests);
}

ENTRY int MPI_Request_free(MPI_Request* request) {
  return free_request<Next<"MPI_Request_free", decltype(MPI_Request_free)>>(request);
}
ENTRY int PMPI_Request_free(MPI_Request* request) {
  return free_request<Next<"PMPI_Request_free", decltype(PMPI_Request_free)>>(request);
}
