// The beginning of MPI in Fortran. The f08 forms exist for every MPI library: MPICH's call
// PMPI_* as Open MPI's do. Its older forms call MPI_* in C.
#include "calls/progress_thread.h"
#include "interpose/dispatch.h"
#include "interpose/entry.h"
#include "interpose/fortran.h"
#include "interpose/initialization.h"
#include "interpose/next.h"

using namespace unisono;

namespace {

/// Calls a Fortran MPI_Init(_thread), whose ierror may be absent.
template <class Function, class... Arguments>
void initialize(Function next, int* ierror, Arguments... arguments) {
  int code = MPI_SUCCESS;
  before_init();
  next(arguments..., &code);
  after_init(code);
  if (ierror) *ierror = code;
}

/// What a program asks for may be less than a thread of ours needs.
constexpr int kMultiple = MPI_THREAD_MULTIPLE;
using InitThread = void(const int* required, int* provided, int* ierror);

}  // namespace

ENTRY void mpi_init_f08_(int* ierror) {
  int provided = MPI_THREAD_SINGLE;
  if (wants_progress_thread())
    initialize(Next<"mpi_init_thread_f08_", InitThread>::call, ierror, &kMultiple, &provided);
  else
    initialize(Next<"mpi_init_f08_", decltype(mpi_init_f08_)>::call, ierror);
}

ENTRY void mpi_init_thread_f08_(const int* required, int* provided, int* ierror) {
  initialize(Next<"mpi_init_thread_f08_", InitThread>::call, ierror,
             wants_progress_thread() ? &kMultiple : required, provided);
}

ENTRY void mpi_session_init_f08_(const int* info, const int* handler, int* session, int* ierror) {
  on_session();
  Next<"mpi_session_init_f08_", decltype(mpi_session_init_f08_)>::call(info, handler, session,
                                                                       ierror);
}

#ifdef OPEN_MPI
ENTRY void mpi_init_(int* ierror) {
  int provided = MPI_THREAD_SINGLE;
  if (wants_progress_thread())
    initialize(Next<"mpi_init_thread_", InitThread>::call, ierror, &kMultiple, &provided);
  else
    initialize(Next<"mpi_init_", decltype(mpi_init_)>::call, ierror);
}
FORTRAN_SPELLING(mpi_init, (int* ierror));

ENTRY void mpi_init_thread_(const int* required, int* provided, int* ierror) {
  initialize(Next<"mpi_init_thread_", InitThread>::call, ierror,
             wants_progress_thread() ? &kMultiple : required, provided);
}
FORTRAN_SPELLING(mpi_init_thread, (const int* required, int* provided, int* ierror));

ENTRY void mpi_session_init_(const int* info, const int* handler, int* session, int* ierror) {
  on_session();
  Next<"mpi_session_init_", decltype(mpi_session_init_)>::call(info, handler, session, ierror);
}
FORTRAN_SPELLING(mpi_session_init,
                 (const int* info, const int* handler, int* session, int* ierror));
#endif  // OPEN_MPI
