// A rank dies while nonblocking or persistent collectives are in flight, and the program handles
// errors: each of the others' requests ends, with the error that the MPI library alone gives or
// with its result; after revoke, agree and shrink the collectives of all forms run in Unisono on
// what is left.
//
//   mpiexec --with-ft ulfm -n P lost_in_flight nonblocking|persistent    (Open MPI)
#include <unistd.h>

#include <csignal>
#include <string>

#include "all_kinds.h"

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace {

using conformance::Ints;
using conformance::numbers;
using conformance::own_calls;
using conformance::rank_in;
using conformance::size_of;

constexpr int kRequests = 20, kInts = 2000;

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class;
}

/// All of them, of which the last rank takes part in none.
int failures(MPI_Comm comm, bool persistent) {
  std::vector<Ints> in(kRequests, numbers(0, kInts)), out(kRequests, Ints(kInts));
  std::vector<MPI_Request> requests(kRequests, MPI_REQUEST_NULL);
  const int me = rank_in(comm), last = size_of(comm) - 1;
  const auto make = [&](std::size_t i) {
    if (persistent)
      MPI_Allreduce_init(in[i].data(), out[i].data(), kInts, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL,
                         &requests[i]);
    else
      MPI_Iallreduce(in[i].data(), out[i].data(), kInts, MPI_INT, MPI_SUM, comm, &requests[i]);
  };
  if (persistent)
    for (std::size_t i = 0; i < kRequests; ++i) make(i);
  MPI_Barrier(comm);
  if (me == last) raise(SIGKILL);
  if (persistent)
    MPI_Startall(kRequests, requests.data());
  else
    for (std::size_t i = 0; i < kRequests; ++i) make(i);
  int failed = 0;
  for (MPI_Request& request : requests) {
    const int error_class = class_of(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (std::getenv("LOST_VERBOSE")) std::fprintf(stderr, "rank %d: class %d\n", me, error_class);
    if (error_class != MPI_SUCCESS) ++failed;
  }
  return failed;
}

void in_all_forms(MPI_Comm comm) {
  for (const bool persistent : {false, true}) {
    conformance::All all(comm, 0, persistent);
    all.start();
    if (persistent) MPI_Startall(static_cast<int>(all.requests.size()), all.requests.data());
    conformance::complete(all.requests, 0, persistent);
    all.see();
  }
  int mine = rank_in(comm), sum = -1;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == size_of(comm) * (size_of(comm) - 1) / 2);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool persistent = argc > 1 && std::string(argv[1]) == "persistent";
  conformance::force_all();
  conformance::force("allreduce", "ring");
  MPI_Comm comm, rest;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int size = size_of(comm);
  Ints in(kInts, 1), out(kInts);
  MPI_Allreduce(in.data(), out.data(), kInts, MPI_INT, MPI_SUM, comm);
  CHECK(failures(comm, persistent) > 0);
  MPIX_Comm_revoke(comm);
  int agreed = 1;
  MPIX_Comm_agree(comm, &agreed);
  CHECK(agreed == 1);
  CHECK(MPIX_Comm_shrink(comm, &rest) == MPI_SUCCESS);
  CHECK(size_of(rest) == size - 1);
  MPI_Barrier(rest);
  const unsigned long long before = own_calls();
  in_all_forms(rest);
  if (conformance::has_unisono()) CHECK(own_calls() - before >= 17 + 1);
  if (rank_in(rest) == 0) std::printf("lost_in_flight: passed\n");
  std::fflush(stdout);
  _exit(0);  // MPI_Finalize has its own ways with the dead
}
