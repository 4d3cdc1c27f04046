// Wrong arguments under MPI_ERRORS_RETURN, alike on all ranks: an error of the right class, as the
// MPI library alone gives it, no crash and no hang; what follows works.
#include "check.h"

namespace {

int g_handled = 0;

using conformance::class_of;

void on_error(MPI_Comm*, int*, ...) { ++g_handled; }

void good(MPI_Comm comm) {
  const int one = 1;
  int sum = 0;
  CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
  CHECK(sum == conformance::size_of(comm));
}

/// A place that is not meant. Not of MPI_Bcast and MPI_Exscan: MPI libraries die of it.
void wrong_places(MPI_Comm comm, int* a, int* b) {
  REFUSED(Allgather(a, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm));
  REFUSED(Allreduce(a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
  REFUSED(Reduce_scatter_block(a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
  REFUSED(Scan(a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
  REFUSED(Alltoall(b, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  // Open MPI 5.0.11 makes some of them errors of MPI_COMM_WORLD.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  conformance::force_all();
  const int size = conformance::size_of(comm);
  std::vector<int> a(100), b(static_cast<std::size_t>(100 * size));

  // The class is MPI's where both libraries agree on it, else the library's own.
  for (const int root : {-1, size, size + 1000}) {
    REFUSED(Bcast(a.data(), 1, MPI_INT, root, comm));
    REFUSED(Reduce(a.data(), b.data(), 1, MPI_INT, MPI_SUM, root, comm));
    REFUSED(Gather(a.data(), 1, MPI_INT, b.data(), 1, MPI_INT, root, comm));
    REFUSED(Scatter(b.data(), 1, MPI_INT, a.data(), 1, MPI_INT, root, comm));
    CHECK(class_of(MPI_Bcast(a.data(), 1, MPI_INT, root, comm)) == MPI_ERR_ROOT);
  }
  // Not of reductions and v-collectives: MPICH 5.0.2 looks at the count of few reductions and dies
  // of the others, Open MPI 5.0.11 takes a negative count of MPI_Allgatherv for nothing.
  REFUSED(Bcast(a.data(), -1, MPI_INT, 0, comm));
  REFUSED(Gather(a.data(), -1, MPI_INT, b.data(), -1, MPI_INT, 0, comm));
  REFUSED(Scatter(b.data(), -1, MPI_INT, a.data(), -1, MPI_INT, 0, comm));
  REFUSED(Allgather(a.data(), -1, MPI_INT, b.data(), -1, MPI_INT, comm));
  REFUSED(Alltoall(a.data(), -1, MPI_INT, b.data(), -1, MPI_INT, comm));
  CHECK(class_of(MPI_Bcast(a.data(), -1, MPI_INT, 0, comm)) == MPI_ERR_COUNT);

  // MPICH 5.0.2 dies of a reduction on MPI_DATATYPE_NULL.
  REFUSED(Bcast(a.data(), 1, MPI_DATATYPE_NULL, 0, comm));
  REFUSED(Allgather(a.data(), 1, MPI_DATATYPE_NULL, b.data(), 1, MPI_DATATYPE_NULL, comm));
  REFUSED(Allreduce(a.data(), b.data(), 1, MPI_INT, MPI_OP_NULL, comm));
  REFUSED(Exscan(a.data(), b.data(), 1, MPI_INT, MPI_OP_NULL, comm));
  wrong_places(comm, a.data(), b.data());
  // Operations that are not defined for the type.
  REFUSED(Allreduce(a.data(), b.data(), 1, MPI_DOUBLE, MPI_BAND, comm));
  REFUSED(Reduce(a.data(), b.data(), 1, MPI_2INT, MPI_SUM, 0, comm));
  REFUSED(Scan(a.data(), b.data(), 1, MPI_INT, MPI_MINLOC, comm));
  good(comm);

  // A handler of the program's own is called, once per error.
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Bcast(a.data(), 1, MPI_INT, size, comm);
  CHECK(g_handled == 1);
  good(comm);
  CHECK(g_handled == 1);
  MPI_Errhandler_free(&handler);

  CHECK(class_of(MPI_Barrier(MPI_COMM_NULL)) == MPI_ERR_COMM);
  CHECK(class_of(MPI_Bcast(a.data(), 1, MPI_INT, 0, MPI_COMM_NULL)) == MPI_ERR_COMM);
  MPI_Comm_free(&comm);
  conformance::passed("error_codes", 2, 2);  // good() twice; every other call is wrong
  MPI_Finalize();
  return 0;
}
