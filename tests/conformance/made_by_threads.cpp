// MPI_THREAD_MULTIPLE: a thread waits in MPI_Comm_dup for ranks that come to it only after a
// collective on another communicator, which another thread of this rank is in. What Unisono makes
// for that other communicator must not wait for the duplicate.
#include <unistd.h>

#include <thread>

#include "check.h"

namespace {

constexpr int kInts = 2000, kRounds = 4, kCalls = 5;
constexpr useconds_t kHeadStart = 50'000;

void sum(MPI_Comm comm) {
  const std::vector<int> ones(kInts, 1);
  std::vector<int> sums(kInts, -1);
  MPI_Allreduce(ones.data(), sums.data(), kInts, MPI_INT, MPI_SUM, comm);
  CHECK(sums.front() == conformance::size_of(comm) && sums.back() == sums.front());
}

/// The calls after the duplicate is there run in Unisono.
void duplicate_meanwhile(bool older) {
  MPI_Comm comms[2], made = MPI_COMM_NULL;
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const MPI_Comm duplicated = comms[older ? 0 : 1], other = comms[older ? 1 : 0];
  if (conformance::rank_in(MPI_COMM_WORLD) == 0) {
    std::thread thread([&] { MPI_Comm_dup(duplicated, &made); });
    usleep(kHeadStart);
    sum(other);
    thread.join();
  } else {
    usleep(2 * kHeadStart);
    sum(other);
    MPI_Comm_dup(duplicated, &made);
  }
  const unsigned long long own = conformance::own_calls();
  for (int call = 0; call < kCalls; ++call) sum(other);
  if (conformance::has_unisono()) CHECK(conformance::own_calls() == own + kCalls);
  sum(made);
  MPI_Comm_free(&made);
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

/// An error handler that is set while Unisono makes a communicator stays.
void set_handler_meanwhile() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::thread thread;
  if (conformance::rank_in(MPI_COMM_WORLD) == 0)
    thread = std::thread([comm] {
      usleep(kHeadStart);
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    });
  else
    usleep(2 * kHeadStart);
  sum(comm);
  if (thread.joinable()) {
    thread.join();
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(comm, &handler);
    CHECK(handler == MPI_ERRORS_RETURN);
  }
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided == MPI_THREAD_MULTIPLE);
  conformance::force("allreduce", "ring");
  for (int round = 0; round < kRounds; ++round) duplicate_meanwhile(round % 2 == 0);
  set_handler_meanwhile();
  conformance::passed("made_by_threads", kRounds * (kCalls + 1), kRounds * (kCalls + 2) + 1);
  MPI_Finalize();
  return 0;
}
