// MPI_Waitall of MPICH (5.0.2) ends the program where a generalized request, as ours are, is
// not complete and another of the array is null. So null ones and others are waited for apart.
#pragma once
#include <mpi.h>

#include <algorithm>

#include "calls/in_flight.h"
#include "mpi/error_class.h"

namespace unisono {

template <class Native>
int wait_apart(int count, MPI_Request* requests, MPI_Status* statuses) {
  const auto is_null = [](MPI_Request request) { return request == MPI_REQUEST_NULL; };
  const bool has_statuses = statuses != MPI_STATUSES_IGNORE;
  int code = MPI_SUCCESS;
  for (int from = 0, to = 0; from < count; from = to) {
    const bool null = is_null(requests[from]);
    while (to < count && is_null(requests[to]) == null) ++to;
    const int done =
        Native::call(to - from, requests + from, has_statuses ? statuses + from : statuses);
    const bool is_told = error_class_of(done) == MPI_ERR_IN_STATUS;
    const bool is_one = to - from == 1;
    if (code == MPI_SUCCESS) code = done == MPI_SUCCESS || !is_one ? done : MPI_ERR_IN_STATUS;
    // Which matters where another part fails. MPICH leaves it as it was.
    for (int i = from; !is_told && has_statuses && i < to; ++i) statuses[i].MPI_ERROR = done;
  }
  return code;
}

template <class Native>
int wait_for_all(int count, MPI_Request* requests, MPI_Status* statuses) {
  const bool apart = requests != nullptr && is_any_in_flight() &&
                     std::any_of(requests, requests + std::max(count, 0),
                                 [](MPI_Request r) { return r == MPI_REQUEST_NULL; });
  return apart ? wait_apart<Native>(count, requests, statuses)
               : Native::call(count, requests, statuses);
}

}  // namespace unisono
