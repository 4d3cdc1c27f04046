// Windows: while a process has some, others may read and write its memory at any time, and most MPI
// libraries do that in the calls of the process itself. So its waits stay awake, and let the
// library go on in each look. Windows of shared memory need no such help.
#include <mpi.h>

#ifndef UNISONO_FLAVOUR_SMPI
#include <climits>

#include "interpose/entry.h"
#include "interpose/next.h"
#include "wait/awake.h"
#ifdef OPEN_MPI
#include "comm/making.h"
#endif

using namespace unisono;

namespace {

/// Makes a window. An MPI error code.
template <class Make>
int make_window(const Make& make) {
#ifdef OPEN_MPI
  const ProgramMakes makes;  // a window has a communicator inside
#endif
  const int code = make();
  if (code == MPI_SUCCESS) wait::stay_awake(1);
  return code;
}

}  // namespace

#define UNISONO_WINDOW_AS(name, parameters, arguments)                               \
  ENTRY int name parameters {                                                        \
    return make_window([=] { return Next<#name, int parameters>::call arguments; }); \
  }
#define UNISONO_WINDOW(name, parameters, arguments)    \
  UNISONO_WINDOW_AS(MPI_##name, parameters, arguments) \
  UNISONO_WINDOW_AS(PMPI_##name, parameters, arguments)
// Where the library has none, the plain form serves.
#define UNISONO_LARGE_WINDOW_AS(name, parameters, comm, arguments_c, arguments)            \
  static int plain_##name parameters {                                                     \
    if (unit < 0 || unit > INT_MAX) {                                                      \
      PMPI_Comm_call_errhandler(comm, MPI_ERR_DISP);                                       \
      return MPI_ERR_DISP;                                                                 \
    }                                                                                      \
    return Next<#name, decltype(name)>::call arguments;                                    \
  }                                                                                        \
  ENTRY int name##_c parameters {                                                          \
    return make_window(                                                                    \
        [=] { return Next<#name "_c", int parameters, plain_##name>::call arguments_c; }); \
  }
#define UNISONO_LARGE_WINDOW(name, parameters, comm, arguments_c, arguments)    \
  UNISONO_LARGE_WINDOW_AS(MPI_##name, parameters, comm, arguments_c, arguments) \
  UNISONO_LARGE_WINDOW_AS(PMPI_##name, parameters, comm, arguments_c, arguments)

UNISONO_WINDOW(Win_create,
               (void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* made),
               (base, size, unit, info, comm, made))
UNISONO_WINDOW(Win_allocate,
               (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* made),
               (size, unit, info, comm, base, made))
UNISONO_WINDOW(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* made),
               (info, comm, made))
UNISONO_LARGE_WINDOW(Win_create,
                     (void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                      MPI_Win* made),
                     comm, (base, size, unit, info, comm, made),
                     (base, size, static_cast<int>(unit), info, comm, made))
UNISONO_LARGE_WINDOW(Win_allocate,
                     (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base,
                      MPI_Win* made),
                     comm, (size, unit, info, comm, base, made),
                     (size, static_cast<int>(unit), info, comm, base, made))

namespace {

/// Whether waits stay awake for this one.
bool keeps_awake(MPI_Win window) {
  void* flavour = nullptr;
  int found = 0;
  if (PMPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, &flavour, &found) != MPI_SUCCESS)
    return false;
  return found != 0 && *static_cast<int*>(flavour) != MPI_WIN_FLAVOR_SHARED;
}

template <class Native>
int free_window(MPI_Win* window) {
  const bool was_awake = window != nullptr && *window != MPI_WIN_NULL && keeps_awake(*window);
  const int code = Native::call(window);
  if (was_awake && code == MPI_SUCCESS) wait::stay_awake(-1);
  return code;
}

}  // namespace

ENTRY int MPI_Win_free(MPI_Win* window) {
  return free_window<Next<"MPI_Win_free", decltype(MPI_Win_free)>>(window);
}
ENTRY int PMPI_Win_free(MPI_Win* window) {
  return free_window<Next<"PMPI_Win_free", decltype(PMPI_Win_free)>>(window);
}
#endif
