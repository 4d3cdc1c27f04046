// The large-count forms of the point-to-point calls that wait (blocking.cpp). Where the wait gives
// its core away, a count that fits goes the way of the plain form, but for a tool that has the
// large one. The stub exports these names for
// all MPI libraries, so that a program finds them where the library has none (Open MPI 5): there
// counts are narrowed.
#include <mpi.h>

#ifndef UNISONO_FLAVOUR_SMPI
#include <climits>

#include "interpose/entry.h"
#include "interpose/narrowing.h"
#include "interpose/next.h"
#include "mpi/library_waits.h"

using namespace unisono;

namespace {

bool fits(MPI_Count count) { return 0 <= count && count <= INT_MAX; }

}  // namespace

// A call `name`_c with one count, and how it is passed on with another: `arguments` in terms of
// `n`.
#define UNISONO_LARGE_AS(name, parameters, comm, arguments_c, arguments)                         \
  static int narrow_##name parameters {                                                          \
    Narrowing narrow(#name "_c", comm);                                                          \
    const int n = narrow.count(count, true);                                                     \
    return narrow.failed() ? narrow.report() : name arguments;                                   \
  }                                                                                              \
  ENTRY int name##_c parameters {                                                                \
    if (gives_way() && fits(count) && !has_tool<#name "_c">()) return narrow_##name arguments_c; \
    return Next<#name "_c", int parameters, narrow_##name>::call arguments_c;                    \
  }
#define UNISONO_LARGE(name, parameters, comm, arguments_c, arguments)    \
  UNISONO_LARGE_AS(MPI_##name, parameters, comm, arguments_c, arguments) \
  UNISONO_LARGE_AS(PMPI_##name, parameters, comm, arguments_c, arguments)

UNISONO_LARGE(Recv,
              (void* buffer, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
               MPI_Status* status),
              comm, (buffer, count, type, source, tag, comm, status),
              (buffer, n, type, source, tag, comm, status))
UNISONO_LARGE(Mrecv,
              (void* buffer, MPI_Count count, MPI_Datatype type, MPI_Message* message,
               MPI_Status* status),
              MPI_COMM_SELF, (buffer, count, type, message, status),
              (buffer, n, type, message, status))
UNISONO_LARGE(Sendrecv_replace,
              (void* buffer, MPI_Count count, MPI_Datatype type, int target, int tag, int source,
               int tag_of_source, MPI_Comm comm, MPI_Status* status),
              comm, (buffer, count, type, target, tag, source, tag_of_source, comm, status),
              (buffer, n, type, target, tag, source, tag_of_source, comm, status))
#define UNISONO_LARGE_SENDING(name)                                                           \
  UNISONO_LARGE(name,                                                                         \
                (const void* buffer, MPI_Count count, MPI_Datatype type, int target, int tag, \
                 MPI_Comm comm),                                                              \
                comm, (buffer, count, type, target, tag, comm),                               \
                (buffer, n, type, target, tag, comm))
UNISONO_LARGE_SENDING(Send)
UNISONO_LARGE_SENDING(Ssend)
UNISONO_LARGE_SENDING(Rsend)

#define UNISONO_LARGE_SENDRECV(name)                                                               \
  static int narrow_##name(const void* from, MPI_Count count, MPI_Datatype type, int target,       \
                           int tag, void* into, MPI_Count most, MPI_Datatype type_into,            \
                           int source, int tag_of_source, MPI_Comm comm, MPI_Status* status) {     \
    Narrowing narrow(#name "_c", comm);                                                            \
    const int sent = narrow.count(count, true), received = narrow.count(most, true);               \
    if (narrow.failed()) return narrow.report();                                                   \
    return name(from, sent, type, target, tag, into, received, type_into, source, tag_of_source,   \
                comm, status);                                                                     \
  }                                                                                                \
  ENTRY int name##_c(const void* from, MPI_Count count, MPI_Datatype type, int target, int tag,    \
                     void* into, MPI_Count most, MPI_Datatype type_into, int source,               \
                     int tag_of_source, MPI_Comm comm, MPI_Status* status) {                       \
    using Native = Next<#name "_c",                                                                \
                        int(const void*, MPI_Count, MPI_Datatype, int, int, void*, MPI_Count,      \
                            MPI_Datatype, int, int, MPI_Comm, MPI_Status*),                        \
                        narrow_##name>;                                                            \
    const bool is_narrow = gives_way() && fits(count) && fits(most) && !has_tool<#name "_c">();    \
    const auto run = is_narrow ? narrow_##name : Native::call;                                     \
    return run(from, count, type, target, tag, into, most, type_into, source, tag_of_source, comm, \
               status);                                                                            \
  }
UNISONO_LARGE_SENDRECV(MPI_Sendrecv)
UNISONO_LARGE_SENDRECV(PMPI_Sendrecv)
#endif
