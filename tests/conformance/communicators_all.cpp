// A program that makes as many communicators as its MPI library has gets all of them, and its
// collectives on them are right: Unisono holds none before a call of its own needs one, and does
// without where there is none left.
//
//   mpiexec -n P communicators_all N      N: how many duplicates the library has natively
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::size_t native = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0;
  const int me = conformance::rank_in(MPI_COMM_WORLD), size = conformance::size_of(MPI_COMM_WORLD);
  conformance::force_all();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  std::vector<MPI_Comm> held;
  for (MPI_Comm comm; MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS;) held.push_back(comm);
  if (me == 0) std::printf("%zu duplicates\n", held.size());
  CHECK(held.size() >= native);
  const auto sum_on = [&](MPI_Comm comm) {
    int sum = 0;
    CHECK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK(sum == size * (size - 1) / 2);
  };
  for (const std::size_t at : {std::size_t{0}, held.size() / 2, held.size() - 1}) sum_on(held[at]);
  sum_on(MPI_COMM_WORLD);
  for (MPI_Comm& comm : held) MPI_Comm_free(&comm);
  MPI_Comm again = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &again);
  sum_on(again);  // now there are some
  MPI_Comm_free(&again);
  conformance::passed("communicators_all", 1, 4);
  MPI_Finalize();
  return 0;
}
