// A program that handles failures: a rank dies while nonblocking or persistent collectives are in
// flight, or a communicator is revoked while ranks wait in a collective of Unisono's. Every call
// ends with an error of a class that the MPI library alone gives; after agree and shrink
// collectives run in Unisono on what is left.
//
//   mpiexec --with-ft ulfm -n P failures_handled WAY    (Open MPI)
//
// WAY: nonblocking, persistent (a rank dies); or an algorithm of MPI_Allreduce (one revokes).
#include <unistd.h>

#include <csignal>
#include <string>

#include "all_kinds.h"

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace {

using conformance::class_of;
using conformance::Ints;
using conformance::own_calls;
using conformance::rank_in;
using conformance::size_of;

constexpr int kRequests = 20, kInts = 2000;
constexpr useconds_t kUntilOthersWait = 200'000;

/// All in flight; the last rank takes part in none.
void lose_a_rank(MPI_Comm comm, bool persistent) {
  std::vector<Ints> in(kRequests, Ints(kInts, 1)), out(kRequests, Ints(kInts));
  std::vector<MPI_Request> requests(kRequests, MPI_REQUEST_NULL);
  for (std::size_t i = 0; persistent && i < kRequests; ++i)
    MPI_Allreduce_init(in[i].data(), out[i].data(), kInts, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL,
                       &requests[i]);
  MPI_Barrier(comm);
  if (rank_in(comm) == size_of(comm) - 1) raise(SIGKILL);
  for (std::size_t i = 0; i < kRequests; ++i) {
    if (persistent)
      MPI_Start(&requests[i]);
    else
      MPI_Iallreduce(in[i].data(), out[i].data(), kInts, MPI_INT, MPI_SUM, comm, &requests[i]);
  }
  for (MPI_Request& request : requests) {
    const int error_class = class_of(MPI_Wait(&request, MPI_STATUS_IGNORE));
    // A rank that has seen it revokes the communicator for the others.
    CHECK(error_class == MPI_ERR_PROC_FAILED || error_class == MPI_ERR_REVOKED);
  }
  MPIX_Comm_revoke(comm);
}

/// While the others wait in a collective, and have another one before them.
void revoke(MPI_Comm comm) {
  if (rank_in(comm) == 0) {
    usleep(kUntilOthersWait);
    MPIX_Comm_revoke(comm);
    return;
  }
  const Ints in(kInts, 1);
  Ints out(kInts);
  for (int call = 0; call < 2; ++call)
    CHECK(class_of(MPI_Allreduce(in.data(), out.data(), kInts, MPI_INT, MPI_SUM, comm)) ==
          MPI_ERR_REVOKED);
}

int sum_of_ones(MPI_Comm comm) {
  const int one = 1;
  int sum = -1;
  CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
  return sum;
}

void in_all_forms(MPI_Comm comm) {
  for (const bool persistent : {false, true}) {
    conformance::All all(comm, 0, persistent);
    all.start();
    if (persistent) MPI_Startall(static_cast<int>(all.requests.size()), all.requests.data());
    conformance::complete(all.requests, 0, persistent);
    all.see();
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string way = argc > 1 ? argv[1] : "nonblocking";
  const bool loses = way == "nonblocking" || way == "persistent";
  conformance::force_all();
  conformance::force("allreduce", loses ? "ring" : way);
  MPI_Comm comm, rest;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int size = size_of(comm);
  for (int i = 0; i < 3; ++i) CHECK(sum_of_ones(comm) == size);
  const unsigned long long before = own_calls();
  if (loses)
    lose_a_rank(comm, way == "persistent");
  else
    revoke(comm);
  int agreed = 1;
  MPIX_Comm_agree(comm, &agreed);
  CHECK(agreed == 1);
  CHECK(MPIX_Comm_shrink(comm, &rest) == MPI_SUCCESS);
  CHECK(size_of(rest) == (loses ? size - 1 : size));
  const unsigned long long shrunk = own_calls();
  if (conformance::has_unisono())
    CHECK(shrunk - before <= 1);  // the barrier, or the call that ended
  for (int i = 0; i < 3; ++i) CHECK(sum_of_ones(rest) == size_of(rest));
  if (conformance::has_unisono()) CHECK(own_calls() - shrunk == 3);
  in_all_forms(rest);
  if (rank_in(rest) == 0) std::printf("failures_handled: passed\n");
  std::fflush(stdout);
  _exit(0);  // MPI_Finalize has its own ways with the dead
}
