// Point-to-point calls that wait, and those that complete requests. MPICH and its family look again
// at once while they wait. Where ranks share cores, the wait of the library gives its core away
// itself if it comes by (turn.cpp); else the call is made of the same without waiting, and looks.
//
// Fortran's libraries call both names. A tool between the program and the MPI library sees the call
// as it is, and makes it once more by its PMPI name.
#include <mpi.h>

#if !defined(OPEN_MPI) && !defined(UNISONO_FLAVOUR_SMPI)
#include <dlfcn.h>

#include <cstddef>
#include <memory>
#include <new>
#include <string_view>

#include "interpose/entry.h"
#include "interpose/next.h"
#include "interpose/turn.h"
#include "interpose/wait_all.h"
#include "mpi/library_waits.h"

namespace unisono {
namespace {

/// Looks until `look(done)` says that it is over, or fails: the error.
template <class Look>
int look_until_done(const Look& look) {
  const BlockingCall here;
  for (int done = 0;;) {
    const int code = look(done);
    if (code != MPI_SUCCESS || done != 0) return code;
    found_nothing();
  }
}

int wait_for(MPI_Request* request, MPI_Status* status) {
  return look_until_done([&](int& done) { return PMPI_Test(request, &done, status); });
}

/// What `start` has begun, unless it fails.
template <class Start>
int start_and_wait(const Start& start, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = start(&request);
  return code == MPI_SUCCESS ? wait_for(&request, status) : code;
}

/// A receive that nobody waits for any more.
void withdraw(MPI_Request& request) {
  PMPI_Cancel(&request);
  wait_for(&request, MPI_STATUS_IGNORE);
}

template <class Send>
int send_and_receive(const Send& send, void* buffer, int count, MPI_Datatype type, int source,
                     int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Request received = MPI_REQUEST_NULL, sent = MPI_REQUEST_NULL;
  int code = PMPI_Irecv(buffer, count, type, source, tag, comm, &received);
  if (code != MPI_SUCCESS) return code;
  code = send(&sent);
  if (code != MPI_SUCCESS) {
    withdraw(received);
    return code;
  }
  const int of_receive = wait_for(&received, status);
  const int of_send = wait_for(&sent, MPI_STATUS_IGNORE);
  return of_receive != MPI_SUCCESS ? of_receive : of_send;
}

}  // namespace

namespace looking {

int Wait(MPI_Request* request, MPI_Status* status) { return wait_for(request, status); }
int Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  return look_until_done([=](int& done) { return PMPI_Testall(count, requests, &done, statuses); });
}
int Waitany(int count, MPI_Request requests[], int* which, MPI_Status* status) {
  return look_until_done(
      [=](int& done) { return PMPI_Testany(count, requests, which, &done, status); });
}
int Waitsome(int count, MPI_Request requests[], int* number, int which[], MPI_Status statuses[]) {
  return look_until_done([=](int& done) {
    const int code = PMPI_Testsome(count, requests, number, which, statuses);
    done = code == MPI_SUCCESS && *number != 0;
    return code;
  });
}
int Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return look_until_done(
      [=](int& there) { return PMPI_Iprobe(source, tag, comm, &there, status); });
}
int Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return look_until_done(
      [=](int& there) { return PMPI_Improbe(source, tag, comm, &there, message, status); });
}
int Mrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  return start_and_wait(
      [=](MPI_Request* request) { return PMPI_Imrecv(buffer, count, type, message, request); },
      status);
}
int Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
         MPI_Status* status) {
  return start_and_wait(
      [=](MPI_Request* request) {
        return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
      },
      status);
}

#define UNISONO_SENDS(name, nonblocking)                                                           \
  int name(const void* buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm) { \
    return start_and_wait(                                                                         \
        [=](MPI_Request* request) {                                                                \
          return nonblocking(buffer, count, type, target, tag, comm, request);                     \
        },                                                                                         \
        MPI_STATUS_IGNORE);                                                                        \
  }
UNISONO_SENDS(Send, PMPI_Isend)
UNISONO_SENDS(Ssend, PMPI_Issend)
UNISONO_SENDS(Rsend, PMPI_Irsend)

int Sendrecv(const void* from, int count, MPI_Datatype type, int target, int tag, void* into,
             int most, MPI_Datatype type_into, int source, int tag_of_source, MPI_Comm comm,
             MPI_Status* status) {
  const auto send = [=](MPI_Request* request) {
    return PMPI_Isend(from, count, type, target, tag, comm, request);
  };
  return send_and_receive(send, into, most, type_into, source, tag_of_source, comm, status);
}

/// What is sent has to leave the buffer before what comes takes its place.
int Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int target, int tag, int source,
                     int tag_of_source, MPI_Comm comm, MPI_Status* status) {
  int bytes = 0, packed = 0;
  int code = PMPI_Pack_size(count, type, comm, &bytes);
  if (code != MPI_SUCCESS) return code;
  const std::unique_ptr<std::byte[]> copy(new (std::nothrow)
                                              std::byte[static_cast<unsigned>(bytes)]);
  if (copy == nullptr) {
    PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
  }
  code = PMPI_Pack(buffer, count, type, copy.get(), bytes, &packed, comm);
  if (code != MPI_SUCCESS) return code;
  const auto send = [&](MPI_Request* request) {
    return PMPI_Isend(copy.get(), packed, MPI_PACKED, target, tag, comm, request);
  };
  return send_and_receive(send, buffer, count, type, source, tag_of_source, comm, status);
}

}  // namespace looking

namespace {

/// Whether a tool's function is called so: it calls the PMPI function in its turn.
bool is_of_tool(const char* name) {
  Dl_info tool{}, library{};
  return dladdr(find_next(name), &tool) != 0 && dladdr(find_next("PMPI_Init"), &library) != 0 &&
         tool.dli_fbase != library.dli_fbase;
}

template <FunctionName kName, class Function, class Looking, class... Arguments>
int wait_giving_way(Looking looking, Arguments... arguments) {
  using Native = Next<kName, Function>;
  if (!gives_way()) [[likely]]
    return Native::call(arguments...);
  static const bool is_tool = is_of_tool(kName.text);
  if (is_tool) return Native::call(arguments...);
  constexpr bool kIsProbe = std::string_view(kName.text).ends_with("robe");
  const bool yields = library_yields() && !kIsProbe;
  if (!yields && !waits_turn()) return looking(arguments...);
  const BlockingCall here(yields);
  return Native::call(arguments...);
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
