// Grids and graphs of fewer ranks than the communicator that they are made of. MPICH 5.0.2 gives
// them the group of all: a communicator of that group sends to a rank that is not in it, and what
// nobody receives comes up in the next communicator with the same context id.
#include "check.h"

namespace {

constexpr int kRounds = 4;

/// Of the first so many ranks, in their order.
MPI_Comm make(bool grid, int ranks) {
  MPI_Comm comm = MPI_COMM_NULL;
  if (grid) {
    const int periodic = 0;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &comm);
  } else {
    const std::vector<int> index(static_cast<std::size_t>(ranks), 0);
    const int none = 0;
    MPI_Graph_create(MPI_COMM_WORLD, ranks, index.data(), &none, 0, &comm);
  }
  return comm;
}

void use(MPI_Comm comm, int ranks) {
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  CHECK(conformance::size_of(comm) == ranks);
  CHECK(conformance::rank_in(comm) == me);
  std::vector<int> members(static_cast<std::size_t>(ranks), -1);
  MPI_Allgather(&me, 1, MPI_INT, members.data(), 1, MPI_INT, comm);
  for (int i = 0; i < ranks; ++i) CHECK(members[static_cast<std::size_t>(i)] == i);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = conformance::rank_in(MPI_COMM_WORLD), p = conformance::size_of(MPI_COMM_WORLD);
  conformance::force_all();
  for (int round = 0; round < kRounds; ++round) {
    const int ranks = p - 1;
    MPI_Comm some = make(round % 2 == 0, ranks);
    CHECK((some != MPI_COMM_NULL) == (me < ranks));
    if (some != MPI_COMM_NULL) {
      use(some, ranks);
      MPI_Comm_free(&some);
    }
    // Context ids that were in use are among theirs, and the MPI library broadcasts within them.
    const int side = me == 0 ? 0 : 1;
    MPI_Comm local[] = {MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
    for (MPI_Comm& comm : local) MPI_Comm_split(MPI_COMM_WORLD, side, me, &comm);
    for (MPI_Comm& comm : local) {
      MPI_Comm inter = MPI_COMM_NULL;
      MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, 1 - side, 0, &inter);
      MPI_Comm_free(&inter);
    }
    for (MPI_Comm& comm : local) MPI_Comm_free(&comm);
  }
  conformance::passed("small_topologies", kRounds, kRounds);
  MPI_Finalize();
  return 0;
}
