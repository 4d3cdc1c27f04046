// Thousands of communicators made, used with forced algorithms and freed: no resource runs out, and
// a handle that the MPI library gives out anew has nothing of the communicator that had it before.
//
//   mpiexec -n P communicator_churn [how many]
#include "check.h"
#include "tests/thorough.h"

namespace {

/// The ranks of MPI_COMM_WORLD in the order of the communicator, by Unisono.
void use(MPI_Comm comm, int round) {
  const int rank = conformance::rank_in(comm), size = conformance::size_of(comm);
  const int me = conformance::rank_in(MPI_COMM_WORLD);

  std::vector<int> members(static_cast<std::size_t>(size), -1);
  const unsigned long long before = conformance::own_calls();
  MPI_Allgather(&me, 1, MPI_INT, members.data(), 1, MPI_INT, comm);
  // One rank alone has nothing to send: that is always the MPI library's.
  if (conformance::has_unisono()) CHECK(conformance::own_calls() == before + (size > 1 ? 1 : 0));
  CHECK(members[static_cast<std::size_t>(rank)] == me);

  MPI_Group group, world;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int i = 0; i < size; ++i) {
    int in_world = -1;
    MPI_Group_translate_ranks(group, 1, &i, world, &in_world);
    CHECK(members[static_cast<std::size_t>(i)] == in_world);
  }
  MPI_Group_free(&group);
  MPI_Group_free(&world);

  int value = rank == round % size ? round : -1;
  MPI_Bcast(&value, 1, MPI_INT, round % size, comm);
  CHECK(value == round);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  // More than MPICH has context numbers, 2048, however many are meant to be there at once.
  const int rounds = argc > 1 ? std::atoi(argv[1]) : unisono::is_thorough() ? 5000 : 2500;
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  const int size = conformance::size_of(MPI_COMM_WORLD);
  conformance::force_all();
  MPI_Comm kept = MPI_COMM_NULL;
  for (int round = 0; round < rounds; ++round) {
    // Of changing size and order, so that state kept for a handle by mistake is wrong for the next.
    MPI_Comm comm = MPI_COMM_NULL;
    switch (round % 4) {
      case 0: MPI_Comm_dup(MPI_COMM_WORLD, &comm); break;
      case 1: MPI_Comm_split(MPI_COMM_WORLD, 0, size - me, &comm); break;
      case 2: MPI_Comm_split(MPI_COMM_WORLD, me == size - 1 ? 1 : 0, me, &comm); break;
      default: MPI_Comm_split(MPI_COMM_WORLD, me == 0 ? MPI_UNDEFINED : 0, -me, &comm); break;
    }
    if (comm == MPI_COMM_NULL) continue;
    use(comm, round);
    if (round % 512 == 4) {  // one that outlives the others
      if (kept != MPI_COMM_NULL) MPI_Comm_free(&kept);
      kept = comm;
    } else {
      MPI_Comm_free(&comm);
    }
    if (kept != MPI_COMM_NULL && round % 64 == 4) use(kept, round);
  }
  if (kept != MPI_COMM_NULL) MPI_Comm_free(&kept);
  use(MPI_COMM_WORLD, rounds);
  // Every allgather, which use() has seen to, and every broadcast to somebody else.
  const auto least = static_cast<unsigned long long>(rounds);
  conformance::passed("communicator_churn", least, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
