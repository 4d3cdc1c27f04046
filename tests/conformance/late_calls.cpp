// Collectives at the edges of lifetimes: in the delete function of a communicator that is being
// freed, and in an exit handler that ends MPI after Unisono's own exit handlers have run.
#include "check.h"

namespace {

int sum_of_ones(MPI_Comm comm) {
  const int one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

int remove(MPI_Comm comm, int, void*, void*) {
  CHECK(sum_of_ones(comm) == conformance::size_of(comm));
  return MPI_SUCCESS;
}

void at_exit() {
  CHECK(sum_of_ones(MPI_COMM_WORLD) == conformance::size_of(MPI_COMM_WORLD));
  // 10 before a communicator is freed, and this one; the 30 while one is are native
  // (being_freed.h).
  conformance::passed("late_calls", 11, 11);
  MPI_Finalize();
}

/// MPICH tells its launcher that a process has ended well in an exit handler of its own, which its
/// first initialisation registers and which counts only after MPI_Finalize (5.0.2). A program that
/// finalizes in an older handler is killed by chance, as soon as another of its processes has
/// ended. So MPICH's handler is registered first.
void let_mpich_end_last() {
#ifdef MPICH_VERSION
  MPI_Session session;
  PMPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  PMPI_Session_finalize(&session);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  let_mpich_end_last();
  std::atexit(at_exit);
  MPI_Init(&argc, &argv);
  conformance::force_all();
  int before = MPI_KEYVAL_INVALID, after = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, remove, &before, nullptr);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, remove, &after, nullptr);
  for (int i = 0; i < 20; ++i) {  // deleted before and after what Unisono keeps there
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (i % 2 == 1) MPI_Comm_set_attr(comm, before, nullptr);
    if (i % 4 < 2) CHECK(sum_of_ones(comm) == conformance::size_of(comm));
    MPI_Comm_set_attr(comm, after, nullptr);
    MPI_Comm_free(&comm);
  }
}
