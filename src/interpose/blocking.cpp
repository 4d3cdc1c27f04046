// Point-to-point calls that wait, and those that complete requests. MPICH and its family look again
// at once while they wait. Where ranks share cores, the wait of the library gives its core away
// itself if it comes by (turn.cpp); else the call is made of the same without waiting, and looks.
//
// Fortran's libraries call both names. A tool between the program and the MPI library sees the call
// as it is, and makes it once more by its PMPI name.
#include <mpi.h>

#if !defined(OPEN_MPI) && !defined(UNISONO_FLAVOUR_SMPI)
#include <string_view>

#include "interpose/entry.h"
#include "interpose/looking.h"
#include "interpose/next.h"
#include "interpose/turn.h"
#include "interpose/wait_all.h"
#include "mpi/library_waits.h"

namespace unisono {
namespace {

template <FunctionName kName, class Function, class Looking, class... Arguments>
int wait_giving_way(Looking looking, Arguments... arguments) {
  using Native = Next<kName, Function>;
  if (!gives_way()) [[likely]]
    return Native::call(arguments...);
  if (has_tool<kName>()) return Native::call(arguments...);
  constexpr bool kIsProbe = std::string_view(kName.text).ends_with("robe");
  const bool yields = library_yields() && !kIsProbe;
  if (!yields && !waits_turn() && may_look()) return looking(arguments...);
  const bool outer = enter_blocking_call(yields);
  const int code = Native::call(arguments...);
  leave_blocking_call(outer);
  return code;
}

/// The whole of MPI_Waitall, which is more than the next definition.
template <FunctionName kName>
int wait_for_all_giving_way(int count, MPI_Request* requests, MPI_Status* statuses) {
  struct Native {
    static int call(int n, MPI_Request* some, MPI_Status* told) {
      return wait_giving_way<kName, decltype(MPI_Waitall)>(looking::Waitall, n, some, told);
    }
  };
  return wait_for_all<Native>(count, requests, statuses);
}

}  // namespace
}  // namespace unisono

using namespace unisono;

#define UNISONO_WAITS_AS(function, name, parameters, ...)                          \
  ENTRY int name parameters {                                                      \
    return wait_giving_way<#name, decltype(name)>(looking::function, __VA_ARGS__); \
  }
#define UNISONO_WAITS(function, parameters, ...)                      \
  UNISONO_WAITS_AS(function, MPI_##function, parameters, __VA_ARGS__) \
  UNISONO_WAITS_AS(function, PMPI_##function, parameters, __VA_ARGS__)

UNISONO_WAITS(Wait, (MPI_Request * request, MPI_Status* status), request, status)
UNISONO_WAITS(Waitany, (int count, MPI_Request requests[], int* which, MPI_Status* status), count,
              requests, which, status)
UNISONO_WAITS(Waitsome,
              (int count, MPI_Request requests[], int* number, int which[], MPI_Status statuses[]),
              count, requests, number, which, statuses)
UNISONO_WAITS(Probe, (int source, int tag, MPI_Comm comm, MPI_Status* status), source, tag, comm,
              status)
UNISONO_WAITS(Mprobe,
              (int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status),
              source, tag, comm, message, status)
UNISONO_WAITS(Mrecv,
              (void* buffer, int count, MPI_Datatype type, MPI_Message* message,
               MPI_Status* status),
              buffer, count, type, message, status)
UNISONO_WAITS(Recv,
              (void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
               MPI_Status* status),
              buffer, count, type, source, tag, comm, status)
#define UNISONO_WAITS_SENDING(function)                                                       \
  UNISONO_WAITS(                                                                              \
      function,                                                                               \
      (const void* buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm), \
      buffer, count, type, target, tag, comm)
UNISONO_WAITS_SENDING(Send)
UNISONO_WAITS_SENDING(Ssend)
UNISONO_WAITS_SENDING(Rsend)
UNISONO_WAITS(Sendrecv,
              (const void* from, int count, MPI_Datatype type, int target, int tag, void* into,
               int most, MPI_Datatype type_into, int source, int tag_of_source, MPI_Comm comm,
               MPI_Status* status),
              from, count, type, target, tag, into, most, type_into, source, tag_of_source, comm,
              status)
UNISONO_WAITS(Sendrecv_replace,
              (void* buffer, int count, MPI_Datatype type, int target, int tag, int source,
               int tag_of_source, MPI_Comm comm, MPI_Status* status),
              buffer, count, type, target, tag, source, tag_of_source, comm, status)

ENTRY int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  return wait_for_all_giving_way<"MPI_Waitall">(count, requests, statuses);
}
ENTRY int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  return wait_for_all_giving_way<"PMPI_Waitall">(count, requests, statuses);
}
#endif
