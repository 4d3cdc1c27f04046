// Communicators whose ranks are threads (MPICH's MPIX_Threadcomm_init): as many calls of each
// thread as natively, with one and with several threads a process, and again after a pause.
//
//   mpiexec -n P thread_communicator
#include <algorithm>
#include <atomic>
#include <thread>

#include "check.h"

namespace {

constexpr int kRounds = 20;
std::atomic<int> g_right{0};

void take_part(MPI_Comm comm) {
  MPIX_Threadcomm_start(comm);
  const int rank = conformance::rank_in(comm), size = conformance::size_of(comm);
  for (int round = 0; round < kRounds; ++round) {
    int sum = -1, told = rank == 1 ? round : -1;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Bcast(&told, 1, MPI_INT, 1, comm);
    MPI_Barrier(comm);
    if (sum == size * (size - 1) / 2 && told == round) ++g_right;
  }
  MPIX_Threadcomm_finish(comm);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided == MPI_THREAD_MULTIPLE);
  conformance::force_all();
  int expected = 0;
  for (const int threads : {1, 2, 2}) {
    MPI_Comm comm;
    MPIX_Threadcomm_init(MPI_COMM_WORLD, threads, &comm);
    for (int times = 0; times < 2; ++times) {
      std::vector<std::thread> ranks;
      for (int i = 0; i < threads; ++i) ranks.emplace_back(take_part, comm);
      std::for_each(ranks.begin(), ranks.end(), [](std::thread& rank) { rank.join(); });
      expected += threads * kRounds;
    }
    MPIX_Threadcomm_free(&comm);
  }
  CHECK(g_right == expected);
  int sum = 0;
  const int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);  // ordinary ones are served
  CHECK(sum == conformance::size_of(MPI_COMM_WORLD));
  conformance::passed("thread_communicator", 1, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
