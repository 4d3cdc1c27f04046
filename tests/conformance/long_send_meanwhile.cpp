// A rank with a long message of its own under way waits in a blocking collective whose messages go
// through the memory of the node, beside requests that go there too: the MPI library must have its
// turns, or the one who receives the message before it calls the collective never gets it.
//
//   UNISONO_ALLREDUCE=ring:transport=shm mpiexec -n 2 long_send_meanwhile queued|inactive
//
// `queued`: so many requests are in flight that the blocking call has not begun. `inactive`: a
// persistent request that is not started, with MPI_THREAD_MULTIPLE. What the MPI library copies by
// itself must be off, or the receiver needs nobody.
#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "check.h"

namespace {

constexpr int kBytes = 8'000'000, kMost = 100;  // 64 begin at once (src/comm/tags.cpp)

using namespace std::chrono_literals;

struct InFlight {
  std::array<int, kMost> in{}, out{};
  std::array<MPI_Request, kMost> requests;
  InFlight() { requests.fill(MPI_REQUEST_NULL); }
};

}  // namespace

int main(int argc, char** argv) {
  const bool queued = argc > 1 && std::string(argv[1]) == "queued";
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, queued ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
  const int rank = conformance::rank_in(MPI_COMM_WORLD), p = conformance::size_of(MPI_COMM_WORLD);
  InFlight some;
  some.in.fill(rank);
  const auto together = [&] {
    int mine = rank, sum = -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == p * (p - 1) / 2);
  };
  together();
  if (!queued)
    MPI_Allreduce_init(some.in.data(), some.out.data(), 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                       MPI_INFO_NULL, some.requests.data());
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<char> data(kBytes, static_cast<char>(rank));
  MPI_Request sent = MPI_REQUEST_NULL;
  if (rank == 1) MPI_Isend(data.data(), kBytes, MPI_CHAR, 0, 5, MPI_COMM_WORLD, &sent);
  if (rank == 0) {
    std::this_thread::sleep_for(100ms);  // rank 1 is to be in the collective by then
    MPI_Recv(data.data(), kBytes, MPI_CHAR, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(data[kBytes - 1] == 1);
  }
  for (std::size_t k = 0; queued && k < kMost; ++k)
    MPI_Iallreduce(&some.in[k], &some.out[k], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                   &some.requests[k]);
  together();
  if (queued) MPI_Waitall(kMost, some.requests.data(), MPI_STATUSES_IGNORE);
  if (queued) CHECK(some.out[kMost - 1] == p * (p - 1) / 2);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  if (!queued) MPI_Request_free(some.requests.data());
  conformance::passed("long_send_meanwhile", queued ? kMost + 2 : 2, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
