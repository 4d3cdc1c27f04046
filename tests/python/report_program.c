// Collectives whose numbers the test knows; the line comments are looked for.
#include <mpi.h>

static void exchange(int turns) {
  double mine = 1, sum[2];
  for (int turn = 0; turn < turns; turn++) {
    MPI_Allreduce(&mine, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);  // in the loop
  }
  MPI_Allgather(&mine, 1, MPI_DOUBLE, sum, 1, MPI_DOUBLE, MPI_COMM_WORLD);  // behind it
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  exchange(25);
  if (rank == 0) {
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);  // rank 0
  } else {
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Comm twin;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  for (int turn = 0; turn < 3; turn++) MPI_Barrier(twin);  // on another communicator
  MPI_Comm_free(&twin);
  MPI_Barrier(MPI_COMM_SELF);
  MPI_Finalize();
}
