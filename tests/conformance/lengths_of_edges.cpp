// Neighbourhood collectives in which every edge has a length of its own: 0 -> 1 -> 2. Rank 1 alone
// sees two lengths, and the others make the call with it all the same.
//
// Open MPI refuses such a call.
//
//   mpiexec -n 3 lengths_of_edges
#include "check.h"

namespace {

constexpr int kMost = 50, kCalls = 10;

/// Integers that rank r sends.
int length(int rank) { return rank == 0 ? kMost : 3; }

void call(MPI_Comm graph, bool cuts) {
  const int rank = conformance::rank_in(graph);
  const std::vector<int> from(kMost, 10 + rank);
  std::vector<int> to(kMost, -1);
  const int received = rank == 0 ? 0 : length(rank - 1);
  const auto function = cuts ? MPI_Neighbor_alltoall : MPI_Neighbor_allgather;
  CHECK(function(from.data(), length(rank), MPI_INT, to.data(), received, MPI_INT, graph) ==
        MPI_SUCCESS);
  for (int i = 0; i < kMost; ++i)
    CHECK(to[static_cast<std::size_t>(i)] == (i < received ? 10 + rank - 1 : -1));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = conformance::rank_in(MPI_COMM_WORLD);
  const int below = rank - 1, above = rank + 1;
  for (const bool cuts : {true, false}) {
    MPI_Comm graph = MPI_COMM_NULL;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank > 0 ? 1 : 0, &below, MPI_UNWEIGHTED,
                                   rank < 2 ? 1 : 0, &above, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &graph);
    for (int i = 0; i < kCalls; ++i) call(graph, cuts);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, graph);
    CHECK(sum == 3);
    MPI_Comm_free(&graph);
  }
  conformance::passed("lengths_of_edges", 0, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
