// A system that lets no process read another's memory: long messages go through the shared memory
// then, and are right; and nothing that Unisono sends needs it.
//
//   mpiexec -n P single_copy_forbidden [all|last|undumpable|nothing]
//
// all, last: a filter of system calls on all ranks, or on the last one, as containers have it.
// undumpable: as a program with file capabilities is, for users other than root. nothing: the
// program's file is not readable, which has the same effect.
#include <sys/prctl.h>

#include "check.h"
#include "deny.h"

namespace {

void forbid(const std::string& how) {
  if (how == "all" || (how == "last" && conformance::is_last_rank()))
    CHECK(conformance::deny_copies());
  if (how == "undumpable") CHECK(prctl(PR_SET_DUMPABLE, 0) == 0);
}

}  // namespace

int main(int argc, char** argv) {
  forbid(argc > 1 ? argv[1] : "all");
  MPI_Init(&argc, &argv);
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  const int size = conformance::size_of(MPI_COMM_WORLD);
  for (const bool messages : {false, true}) {
    conformance::force("allreduce", messages ? "recursive_doubling:transport=shm" : "shm");
    conformance::force("bcast", messages ? "binomial:transport=shm" : "shm");
    for (const int count : {1, 1000, 1 << 18}) {
      std::vector<int> mine(static_cast<std::size_t>(count), me), sum(mine.size());
      MPI_Allreduce(mine.data(), sum.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      CHECK(sum.front() == size * (size - 1) / 2 && sum.back() == sum.front());
      MPI_Bcast(mine.data(), count, MPI_INT, size - 1, MPI_COMM_WORLD);
      CHECK(mine.front() == size - 1 && mine.back() == size - 1);
    }
  }
  conformance::passed("single_copy_forbidden", 12, 12);
  MPI_Finalize();
  return 0;
}
