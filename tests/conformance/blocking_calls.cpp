// Point-to-point calls that wait, of ranks that share one core: results, statuses and errors as MPI
// has them, and a probe that lasts naps, which MPICH by itself does nowhere.
//
//   mpiexec -n 4 unisono-exec blocking_calls
#include <dlfcn.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "check.h"

namespace {

int g_naps = 0;

struct Ring {
  int rank = conformance::rank_in(MPI_COMM_WORLD), size = conformance::size_of(MPI_COMM_WORLD);
  int left = (rank + size - 1) % size, right = (rank + 1) % size;
};

void check_status(const MPI_Status& status, int source, int tag, int expected) {
  int count = 0;
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(status.MPI_SOURCE == source && status.MPI_TAG == tag && count == expected);
}

constexpr MPI_Comm kAll = MPI_COMM_WORLD;

/// Rank 0 sends by each kind of call, the others receive by each.
void send_and_receive(const Ring& ring) {
  const int sent = 10 + ring.rank;
  int got = -1;
  MPI_Status status;
  if (ring.rank % 2 == 0 && ring.right != 0) {
    MPI_Send(&sent, 1, MPI_INT, ring.right, 1, kAll);
    MPI_Ssend(&sent, 1, MPI_INT, ring.right, 2, kAll);
    MPI_Ssend(&sent, 1, MPI_INT, ring.right, 3, kAll);
    MPI_Recv(nullptr, 0, MPI_INT, ring.right, 4, kAll, MPI_STATUS_IGNORE);
    MPI_Rsend(&sent, 1, MPI_INT, ring.right, 5, kAll);
  } else if (ring.rank % 2 == 1) {
    MPI_Recv(&got, 1, MPI_INT, ring.left, MPI_ANY_TAG, kAll, &status);
    check_status(status, ring.left, 1, 1);
    MPI_Probe(MPI_ANY_SOURCE, 2, kAll, &status);
    check_status(status, ring.left, 2, 1);
    MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, 2, kAll, MPI_STATUS_IGNORE);
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Mprobe(ring.left, 3, kAll, &message, &status);
    MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
    check_status(status, ring.left, 3, 1);
    CHECK(message == MPI_MESSAGE_NULL);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&got, 1, MPI_INT, ring.left, 5, kAll, &request);
    MPI_Send(nullptr, 0, MPI_INT, ring.left, 4, kAll);
    MPI_Wait(&request, &status);
    CHECK(request == MPI_REQUEST_NULL && got == 10 + ring.left);
  }
}

void exchange(const Ring& ring) {
  int sent = ring.rank, got = -1;
  MPI_Status status;
  MPI_Sendrecv(&sent, 1, MPI_INT, ring.right, 6, &got, 1, MPI_INT, ring.left, 6, kAll, &status);
  check_status(status, ring.left, 6, 1);
  CHECK(got == ring.left);
  MPI_Sendrecv_replace(&sent, 1, MPI_INT, ring.right, 7, ring.left, 7, kAll, &status);
  check_status(status, ring.left, 7, 1);
  CHECK(sent == ring.left);
  MPI_Sendrecv_replace(&sent, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, kAll, &status);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL && sent == ring.left);
  MPI_Recv(&got, 1, MPI_INT, MPI_PROC_NULL, 0, kAll, &status);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL && got == ring.left);
}

/// With one side only, with oneself, and by a type that has gaps.
void exchange_oddly(const Ring& ring) {
  int sent = ring.rank, got = -1;
  MPI_Status status;
  const bool first = ring.rank == 0, second = ring.rank == 1;
  if (first || second) {
    MPI_Sendrecv(&sent, 1, MPI_INT, first ? 1 : MPI_PROC_NULL, 16, &got, 1, MPI_INT,
                 second ? 0 : MPI_PROC_NULL, 16, kAll, &status);
    CHECK(got == (second ? 0 : -1));
    CHECK(status.MPI_SOURCE == (second ? 0 : MPI_PROC_NULL));
  }
  MPI_Sendrecv(&sent, 1, MPI_INT, ring.rank, 17, &got, 1, MPI_INT, ring.rank, 17, kAll, &status);
  check_status(status, ring.rank, 17, 1);
  CHECK(got == ring.rank);
  MPI_Datatype apart = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &apart);
  MPI_Type_commit(&apart);
  std::array<int, 3> numbers{ring.rank, -2, ring.rank + 100};
  MPI_Sendrecv_replace(numbers.data(), 1, apart, ring.right, 18, ring.left, 18, kAll, &status);
  CHECK(numbers[0] == ring.left && numbers[1] == -2 && numbers[2] == ring.left + 100);
  MPI_Type_free(&apart);
}

/// Of ranks that the other side lacks.
void receive_from_another_group(const Ring& ring) {
  const bool alone = ring.rank == 0;
  MPI_Comm own = MPI_COMM_NULL, both = MPI_COMM_NULL;
  MPI_Comm_split(kAll, alone ? 0 : 1, ring.rank, &own);
  MPI_Intercomm_create(own, 0, kAll, alone ? 1 : 0, 19, &both);
  int number = alone ? 5 : -1;
  for (int other = 0; alone && other < ring.size - 1; ++other)
    MPI_Send(&number, 1, MPI_INT, other, 20, both);
  if (!alone) MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 20, both, MPI_STATUS_IGNORE);
  CHECK(number == 5);
  MPI_Comm_free(&both);
  MPI_Comm_free(&own);
}

/// Requests of all kinds in one array: null, inactive and active.
void complete(const Ring& ring) {
  std::array<int, 3> got{}, sent{1, 2, 3};
  std::array<MPI_Request, 6> requests;
  std::array<MPI_Status, 6> statuses;
  requests.fill(MPI_REQUEST_NULL);
  MPI_Recv_init(&got[0], 1, MPI_INT, ring.left, 8, kAll, &requests[1]);
  CHECK(MPI_Wait(&requests[1], &statuses[1]) == MPI_SUCCESS);  // inactive
  MPI_Start(&requests[1]);
  MPI_Irecv(&got[1], 1, MPI_INT, ring.left, 9, kAll, &requests[3]);
  MPI_Isend(&sent[0], 1, MPI_INT, ring.right, 8, kAll, &requests[4]);
  MPI_Isend(&sent[1], 1, MPI_INT, ring.right, 9, kAll, &requests[5]);
  MPI_Waitall(6, requests.data(), statuses.data());
  check_status(statuses[1], ring.left, 8, 1);
  check_status(statuses[3], ring.left, 9, 1);
  CHECK(got[0] == 1 && got[1] == 2 && requests[1] != MPI_REQUEST_NULL);
  MPI_Request_free(&requests[1]);
  int which = 0, number = 0;
  MPI_Waitany(6, requests.data(), &which, &statuses[0]);
  CHECK(which == MPI_UNDEFINED);
  std::array<int, 6> indices{};
  MPI_Waitsome(6, requests.data(), &number, indices.data(), statuses.data());
  CHECK(number == MPI_UNDEFINED);
  MPI_Irecv(&got[2], 1, MPI_INT, ring.left, 10, kAll, &requests[2]);
  MPI_Send(&sent[2], 1, MPI_INT, ring.right, 10, kAll);
  MPI_Waitany(6, requests.data(), &which, &statuses[0]);
  CHECK(which == 2 && got[2] == 3);
  MPI_Irecv(&got[2], 1, MPI_INT, ring.left, 11, kAll, &requests[4]);
  MPI_Send(&sent[1], 1, MPI_INT, ring.right, 11, kAll);
  MPI_Waitsome(6, requests.data(), &number, indices.data(), MPI_STATUSES_IGNORE);
  CHECK(number == 1 && indices[0] == 4 && got[2] == 2);
}

/// Errors are those of the call's communicator, also where a message is one's own (MPI_COMM_SELF
/// would end the program), and a call with a wrong argument takes no message.
void fail_alone(const Ring& ring) {
  std::array<int, 2> sent{1, 2};
  int got = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  for (const int source : {ring.rank, MPI_ANY_SOURCE}) {
    MPI_Isend(sent.data(), 2, MPI_INT, ring.rank, 14, kAll, &request);
    CHECK(conformance::class_of(MPI_Recv(&got, 1, MPI_INT, source, 14, kAll, MPI_STATUS_IGNORE)) ==
          MPI_ERR_TRUNCATE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Isend(sent.data(), 2, MPI_INT, ring.right, 15, kAll, &request);
  std::array<int, 2> taken{};
  REFUSED(Sendrecv(sent.data(), 1, MPI_INT, ring.size, 0, taken.data(), 2, MPI_INT, ring.left, 15,
                   kAll, MPI_STATUS_IGNORE));
  REFUSED(Sendrecv_replace(sent.data(), -1, MPI_INT, ring.right, 0, ring.left, 15, kAll,
                           MPI_STATUS_IGNORE));
  CHECK(taken[0] == 0);
  MPI_Recv(taken.data(), 2, MPI_INT, ring.left, 15, kAll, MPI_STATUS_IGNORE);
  CHECK(taken[1] == 2);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void fail(const Ring& ring) {
  const std::array<int, 2> sent{1, 2};
  int got = 0;
  MPI_Comm_set_errhandler(kAll, MPI_ERRORS_RETURN);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(sent.data(), 2, MPI_INT, ring.right, 12, kAll, &request);
  CHECK(conformance::class_of(MPI_Recv(&got, 1, MPI_INT, ring.left, 12, kAll, MPI_STATUS_IGNORE)) ==
        MPI_ERR_TRUNCATE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  REFUSED(Recv(&got, 1, MPI_INT, ring.size, 0, kAll, MPI_STATUS_IGNORE));
  REFUSED(Send(&got, 1, MPI_INT, ring.size, 0, kAll));
  REFUSED(Sendrecv(&got, 1, MPI_INT, ring.size, 0, &got, 1, MPI_INT, ring.left, 0, kAll,
                   MPI_STATUS_IGNORE));
  fail_alone(ring);
  MPI_Comm_set_errhandler(kAll, MPI_ERRORS_ARE_FATAL);
}

/// Longer than a wait polls: 64 times the most that a sleep is taken to cost, 1 ms.
void come_late(const Ring& ring) {
  constexpr useconds_t kLate = 500'000;
  int got = 0;
  const int before = g_naps;
  if (ring.rank == 0) {
    usleep(kLate);
    for (int other = 1; other < ring.size; ++other) MPI_Send(&got, 1, MPI_INT, other, 13, kAll);
  } else {
    MPI_Probe(0, 13, kAll, MPI_STATUS_IGNORE);
    CHECK(g_naps > before);
    MPI_Recv(&got, 1, MPI_INT, 0, 13, kAll, MPI_STATUS_IGNORE);
  }
}

/// Raised by an error handler.
struct Raised {};
void raise_an_exception(MPI_Comm*, int*, ...) { throw Raised(); }

/// An exception of an error handler passes through the call to the program.
void raise_errors(const Ring& ring) {
  MPI_Errhandler raises = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(raise_an_exception, &raises);
  MPI_Comm_set_errhandler(kAll, raises);
  for (int round = 0; round < 5; ++round) {
    const std::array<int, 2> sent{1, 2};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(sent.data(), 2, MPI_INT, ring.right, 8, kAll, &request);
    bool has_raised = false;
    try {
      int room = 0;
      MPI_Recv(&room, 1, MPI_INT, ring.left, 8, kAll, MPI_STATUS_IGNORE);
    } catch (const Raised&) {
      has_raised = true;
    }
    CHECK(has_raised);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Comm_set_errhandler(kAll, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&raises);
}

}  // namespace

/// In place of the C library's, for all libraries of the process.
extern "C" int nanosleep(const timespec* asked, timespec* left) {
  static const auto next =
      reinterpret_cast<int (*)(const timespec*, timespec*)>(dlsym(RTLD_NEXT, "nanosleep"));
  ++g_naps;
  return next(asked, left);
}

int main(int argc, char** argv) {
  conformance::share_one_core();
  MPI_Init(&argc, &argv);
  const Ring ring;
  for (int round = 0; round < 20; ++round) {
    send_and_receive(ring);
    exchange(ring);
    complete(ring);
  }
  exchange_oddly(ring);
  receive_from_another_group(ring);
  fail(ring);
  raise_errors(ring);
  come_late(ring);
  conformance::passed("blocking_calls", 0, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
