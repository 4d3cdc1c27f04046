// Many requests in flight on one communicator, begun in one order and completed in another, one on
// each rank. Says what memory one takes.
//
//   mpiexec -n P many_in_flight [N [nonblocking | persistent]]
#include <malloc.h>

#include <string>

#include "check.h"

namespace {

using conformance::rank_in;
using conformance::size_of;

std::size_t allocated() {
  const auto now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
  const auto n = static_cast<std::size_t>(count);
  const bool persistent = argc > 2 && std::string(argv[2]) == "persistent";
  conformance::force("allreduce", "ring");
  const int me = rank_in(MPI_COMM_WORLD), p = size_of(MPI_COMM_WORLD);
  std::vector<int> mine(n), sums(n, -1);
  std::vector<MPI_Request> requests(n, MPI_REQUEST_NULL);
  for (int i = 0; i < count; ++i) mine[static_cast<std::size_t>(i)] = i + me;
  int one = 1, all = 0;
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const unsigned long long before = conformance::own_calls();
  const std::size_t least = allocated();
  for (std::size_t i = 0; i < n; ++i) {
    if (persistent)
      MPI_Allreduce_init(&mine[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &requests[i]);
    else
      MPI_Iallreduce(&mine[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
  }
  if (persistent) MPI_Startall(count, requests.data());
  const std::size_t most = allocated();
  // 7919 is prime: all of them, in an order of this rank.
  for (std::size_t i = 0; i < n; ++i)
    MPI_Wait(&requests[(i * 7919 + static_cast<std::size_t>(me)) % n], MPI_STATUS_IGNORE);
  for (int i = 0; i < count; ++i)
    CHECK(sums[static_cast<std::size_t>(i)] == p * i + p * (p - 1) / 2);
  if (persistent)
    for (MPI_Request& request : requests) MPI_Request_free(&request);
  if (conformance::has_unisono()) CHECK(conformance::own_calls() - before == n);
  if (me == 0) std::printf("%d in flight: %zu bytes each\n", count, (most - least) / n);
  conformance::passed("many_in_flight", n, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
