// One grid for several collectives on one communicator: each has groups of its own, for a grid of
// uneven rows divides the ranks of a scan in another way than those of an allreduce. Ranks must not
// take one collective's groups for the other's, be they made for whichever came first.
#include <numeric>

#include "check.h"

namespace {

constexpr int kInts = 1000, kRounds = 6;
constexpr const char* kGrid = "grid:shape=2x3,rows=native,columns=native";

/// The sum over `ranks` ranks of what rank r has in element i: r + i + round.
int sum_of(int ranks, int i, int round) { return ranks * (ranks - 1) / 2 + ranks * (i + round); }

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = conformance::rank_in(MPI_COMM_WORLD), p = conformance::size_of(MPI_COMM_WORLD);
  for (const char* collective : {"scan", "exscan", "allreduce"})
    conformance::force(collective, kGrid);
  std::vector<int> data(kInts), sums(kInts);
  for (int round = 0; round < kRounds; ++round) {
    std::iota(data.begin(), data.end(), me + round);
    // Another one first on every communicator.
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int turn = 0; turn < 3; ++turn) {
      const int which = (round + turn) % 3;
      const auto call = which == 0 ? MPI_Scan : which == 1 ? MPI_Exscan : MPI_Allreduce;
      const int ranks = which == 0 ? me + 1 : which == 1 ? me : p;
      std::fill(sums.begin(), sums.end(), -1);
      call(data.data(), sums.data(), kInts, MPI_INT, MPI_SUM, comm);
      for (int i = 0; ranks > 0 && i < kInts; ++i)
        CHECK(sums[static_cast<std::size_t>(i)] == sum_of(ranks, i, round));
    }
    MPI_Comm_free(&comm);
  }
  conformance::passed("grid_groups", 3 * kRounds, 3 * kRounds);
  MPI_Finalize();
  return 0;
}
