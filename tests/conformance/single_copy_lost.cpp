// A rank that may no longer read or write other processes' memory after the first calls: long
// messages go through the shared memory from then on, whoever the ranks are, and are right.
#include "check.h"
#include "deny.h"

namespace {

constexpr int kCount = 1 << 18;

void run_all(int me, int size) {
  std::vector<int> mine(kCount, me), sum(mine.size());
  MPI_Allreduce(mine.data(), sum.data(), kCount, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum.front() == size * (size - 1) / 2 && sum.back() == sum.front());
  MPI_Allreduce(MPI_IN_PLACE, mine.data(), kCount, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(mine == sum);
  std::vector<int> all(mine.size() * static_cast<std::size_t>(size), -1);
  mine.assign(mine.size(), me);
  MPI_Gather(mine.data(), kCount, MPI_INT, all.data(), kCount, MPI_INT, 0, MPI_COMM_WORLD);
  if (me == 0) CHECK(all.back() == size - 1);
  if (me == 0) all[static_cast<std::size_t>(kCount)] = 7;
  MPI_Scatter(all.data(), kCount, MPI_INT, mine.data(), kCount, MPI_INT, 0, MPI_COMM_WORLD);
  CHECK(mine.back() == me && mine.front() == (me == 1 ? 7 : me));
  MPI_Bcast(mine.data(), kCount, MPI_INT, size - 1, MPI_COMM_WORLD);
  CHECK(mine.back() == size - 1);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  const int size = conformance::size_of(MPI_COMM_WORLD);
  for (const char* collective : {"allreduce", "gather", "scatter", "bcast"})
    conformance::force(collective, "shm_direct");
  run_all(me, size);
  for (const char* collective : {"allreduce", "gather", "scatter", "bcast"})
    conformance::force(collective, "shm");
  if (me == size - 1) CHECK(conformance::deny_copies());
  for (int i = 0; i < 2; ++i) run_all(me, size);
  conformance::passed("single_copy_lost", 15, 15);
  MPI_Finalize();
  return 0;
}
