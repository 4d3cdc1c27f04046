// Three-dimensional transforms of FFTW between the ranks of MPI_COMM_WORLD, forth and back:
//
//   mpiexec -n P transform SIDE ITERATIONS
//
// Prints the seconds of the slowest rank, how far the last result is from what was put in, and the sum of
// the squares of the last spectrum.
#include <fftw3-mpi.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  const std::ptrdiff_t side = argc > 1 ? std::atol(argv[1]) : 64;
  const int iterations = argc > 2 ? std::atoi(argv[2]) : 10;
  std::ptrdiff_t planes = 0, first = 0;
  const std::ptrdiff_t room =
      fftw_mpi_local_size_3d(side, side, side, MPI_COMM_WORLD, &planes, &first);
  fftw_complex* const data = fftw_alloc_complex(static_cast<std::size_t>(room));
  const auto forth = fftw_mpi_plan_dft_3d(side, side, side, data, data, MPI_COMM_WORLD,
                                          FFTW_FORWARD, FFTW_ESTIMATE);
  const auto back = fftw_mpi_plan_dft_3d(side, side, side, data, data, MPI_COMM_WORLD,
                                         FFTW_BACKWARD, FFTW_ESTIMATE);
  const std::ptrdiff_t points = planes * side * side;
  const auto value = [&](std::ptrdiff_t i) {
    return std::sin(0.37 * static_cast<double>(first * side * side + i));
  };
  for (std::ptrdiff_t i = 0; i < points; ++i) {
    data[i][0] = value(i);
    data[i][1] = 0;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  const double scale = 1.0 / static_cast<double>(side * side * side);
  double squares = 0, sum = 0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    fftw_execute(forth);
    if (iteration + 1 == iterations)
      for (std::ptrdiff_t i = 0; i < points; ++i)
        squares += data[i][0] * data[i][0] + data[i][1] * data[i][1];
    fftw_execute(back);
    for (std::ptrdiff_t i = 0; i < points; ++i) {
      data[i][0] *= scale;
      data[i][1] *= scale;
    }
  }
  double own[2] = {MPI_Wtime() - begin, 0}, all[2] = {0, 0};
  for (std::ptrdiff_t i = 0; i < points; ++i)
    own[1] = std::fmax(own[1], std::hypot(data[i][0] - value(i), data[i][1]));
  MPI_Allreduce(own, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&squares, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::printf("transform: %.6f s, error %s, sum %.17g\n", all[0],
                all[1] < 1e-9 ? "below 1e-9" : "TOO LARGE", sum);
  MPI_Finalize();
  return 0;
}
