#include "interpose/looking.h"

#if !defined(OPEN_MPI) && !defined(UNISONO_FLAVOUR_SMPI)
#include <climits>
#include <cstddef>
#include <memory>
#include <new>

#include "interpose/next.h"
#include "mpi/library_waits.h"

namespace unisono {
namespace {

/// Looks until `look(done)` says that it is over, or fails. Returns the error.
template <class Look>
int look_until_done(const Look& look) {
  const bool outer = enter_blocking_call();
  int code = MPI_SUCCESS, done = 0;
  while ((code = look(done)) == MPI_SUCCESS && done == 0) found_nothing();
  leave_blocking_call(outer);
  return code;
}

/// Waits for what has begun, unless that has failed with `code`.
int finish(int code, MPI_Request& request, MPI_Status* status) {
  if (code == MPI_SUCCESS) code = looking::Wait(&request, status);
  if (code == MPI_SUCCESS || request == MPI_REQUEST_NULL) return code;
  // A look failed, but not what it looked for, which nobody waits for any more.
  PMPI_Cancel(&request);
  PMPI_Request_free(&request);
  return code;
}

/// Whether a message from this rank itself may be what is received, or an argument is wrong. Then
/// the library's own call is made, which needs not wait: an error of a request that has completed
/// at once is raised on another communicator than the call's.
bool is_from_itself(int source, int tag, MPI_Comm comm) {
  if (comm == MPI_COMM_NULL || (tag < 0 && tag != MPI_ANY_TAG)) return true;
  int rank = MPI_PROC_NULL, here = 0, is_inter = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  if (is_inter != 0) return false;
  PMPI_Comm_rank(comm, &rank);
  if (source != rank && source != MPI_ANY_SOURCE) return false;
  return PMPI_Iprobe(rank, tag, comm, &here, MPI_STATUS_IGNORE) != MPI_SUCCESS || here != 0;
}

/// What `send_init` makes, and a receive. Making the send checks its arguments, before the receive
/// can take a message.
template <class SendInit>
int send_and_receive(const SendInit& send_init, void* buffer, int count, MPI_Datatype type,
                     int source, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Request received = MPI_REQUEST_NULL, sent = MPI_REQUEST_NULL;
  int code = send_init(&sent);
  if (code != MPI_SUCCESS) return code;
  code = PMPI_Irecv(buffer, count, type, source, tag, comm, &received);
  if (code == MPI_SUCCESS) {
    code = finish(PMPI_Start(&sent), received, status);
    const int of_send = looking::Wait(&sent, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) code = of_send;
  }
  PMPI_Request_free(&sent);
  return code;
}

/// What is sent has to leave the buffer before what comes takes its place.
class Packed {
 public:
  Packed(const void* buffer, int count, MPI_Datatype type, MPI_Comm comm) {
    int bytes = 0, room = 0;
    if (count < 0 || type == MPI_DATATYPE_NULL || comm == MPI_COMM_NULL) return;
    code_ = PMPI_Pack_size(count, type, comm, &room);
    if (code_ != MPI_SUCCESS || PMPI_Type_size(type, &bytes) != MPI_SUCCESS) return;
    if (bytes < 0 || room < 0 || static_cast<long long>(bytes) * count > INT_MAX) return;
    bytes_.reset(new (std::nothrow) std::byte[static_cast<unsigned>(room)]);
    if (bytes_ != nullptr) code_ = PMPI_Pack(buffer, count, type, bytes_.get(), room, &size_, comm);
  }
  int code() const { return code_; }
  /// Null: an argument is wrong, or they are too many bytes.
  const std::byte* bytes() const { return bytes_.get(); }
  int size() const { return size_; }

 private:
  int code_ = MPI_SUCCESS;
  std::unique_ptr<std::byte[]> bytes_;
  int size_ = 0;
};

}  // namespace

namespace looking {

int Wait(MPI_Request* request, MPI_Status* status) {
  return look_until_done([=](int& done) { return PMPI_Test(request, &done, status); });
}
// Not by Testall, which in MPICH 4.2 fails for partitioned requests, and which raises an error more
// than once. What has completed one by one the library's own call completes.
int Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  int first = 0;
  look_until_done([=, &first](int& done) {
    int code = MPI_SUCCESS;
    for (int is_over = 1; first < count; ++first) {
      code = PMPI_Request_get_status(requests[first], &is_over, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS || is_over == 0) return code;
    }
    done = 1;
    return code;
  });
  return Next<"PMPI_Waitall", decltype(MPI_Waitall)>::call(count, requests, statuses);
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
  MPI_Request request = MPI_REQUEST_NULL;
  return finish(PMPI_Imrecv(buffer, count, type, message, &request), request, status);
}
int Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
         MPI_Status* status) {
  if (is_from_itself(source, tag, comm))
    return Next<"PMPI_Recv", decltype(MPI_Recv)>::call(buffer, count, type, source, tag, comm,
                                                       status);
  MPI_Request request = MPI_REQUEST_NULL;
  return finish(PMPI_Irecv(buffer, count, type, source, tag, comm, &request), request, status);
}

#define UNISONO_SENDS(name, nonblocking)                                                           \
  int name(const void* buffer, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm) { \
    MPI_Request request = MPI_REQUEST_NULL;                                                        \
    return finish(nonblocking(buffer, count, type, target, tag, comm, &request), request,          \
                  MPI_STATUS_IGNORE);                                                              \
  }
UNISONO_SENDS(Send, PMPI_Isend)
UNISONO_SENDS(Ssend, PMPI_Issend)
UNISONO_SENDS(Rsend, PMPI_Irsend)

int Sendrecv(const void* from, int count, MPI_Datatype type, int target, int tag, void* into,
             int most, MPI_Datatype type_into, int source, int tag_of_source, MPI_Comm comm,
             MPI_Status* status) {
  if (is_from_itself(source, tag_of_source, comm))
    return Next<"PMPI_Sendrecv", decltype(MPI_Sendrecv)>::call(
        from, count, type, target, tag, into, most, type_into, source, tag_of_source, comm, status);
  const auto send_init = [=](MPI_Request* request) {
    return PMPI_Send_init(from, count, type, target, tag, comm, request);
  };
  return send_and_receive(send_init, into, most, type_into, source, tag_of_source, comm, status);
}

int Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int target, int tag, int source,
                     int tag_of_source, MPI_Comm comm, MPI_Status* status) {
  if (target == MPI_PROC_NULL)
    return Recv(buffer, count, type, source, tag_of_source, comm, status);
  const Packed copy(buffer, count, type, comm);
  if (copy.code() != MPI_SUCCESS) return copy.code();
  if (copy.bytes() == nullptr || is_from_itself(source, tag_of_source, comm))
    return Next<"PMPI_Sendrecv_replace", decltype(MPI_Sendrecv_replace)>::call(
        buffer, count, type, target, tag, source, tag_of_source, comm, status);
  const auto send_init = [&](MPI_Request* request) {
    return PMPI_Send_init(copy.bytes(), copy.size(), MPI_PACKED, target, tag, comm, request);
  };
  return send_and_receive(send_init, buffer, count, type, source, tag_of_source, comm, status);
}

}  // namespace looking
}  // namespace unisono
#endif
