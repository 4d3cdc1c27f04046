// A program that holds more communicators than Unisono has private ones for, with collectives on
// all of them: the rest runs in the MPI library, alike on all ranks.
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int many = argc > 1 ? std::atoi(argv[1]) : 400;
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  const int size = conformance::size_of(MPI_COMM_WORLD);
  conformance::force_all();
  std::vector<MPI_Comm> held(static_cast<std::size_t>(many));
  for (MPI_Comm& comm : held) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int turn = 0; turn < 2; ++turn) {
    for (const MPI_Comm comm : held) {
      int sum = 0;
      MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
      CHECK(sum == size * (size - 1) / 2);
    }
  }
  for (MPI_Comm& comm : held) MPI_Comm_free(&comm);
  // Which ones Unisono has room for depends on the way, but some, and not all.
  const auto calls = 2ULL * static_cast<unsigned long long>(many);
  conformance::passed("communicators_held", calls / 40, calls - 1);
  MPI_Finalize();
  return 0;
}
