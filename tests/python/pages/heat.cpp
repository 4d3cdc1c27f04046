// The heat.cpp of the pages: diffusion on a ring of ranks until so many steps are done.
#include <mpi.h>

#include <cstdlib>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int steps = argc > 1 ? std::atoi(argv[1]) : 10;
  double mine = rank == 0 ? 1 : 0, total = 0;
  for (int step = 0; step < steps; ++step) {
    double left = 0;
    MPI_Sendrecv(&mine, 1, MPI_DOUBLE, (rank + 1) % size, 0, &left, 1, MPI_DOUBLE,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mine = 0.75 * mine + 0.25 * left;
    MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (total < 0.999 || total > 1.001) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
}
