// Sums of numbers that are not associative, of every reducing collective: rank 0 prints a number
// that tells whether all ranks have the same bits as in another job.
//
//   mpiexec -n P reproducible ROUNDS
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "src/base/hash.h"

namespace {

using Numbers = std::vector<double>;

/// Of wide range, so that every order of summation rounds otherwise.
Numbers numbers(int rank, int count) {
  Numbers all(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const double x = std::sin(1.0 + 37.0 * rank + 0.71 * i);
    all[static_cast<std::size_t>(i)] = x * std::pow(10.0, (7 * rank + i) % 13);
  }
  return all;
}

std::uint64_t bits(const Numbers& values) {
  return unisono::fnv1a(
      {reinterpret_cast<const char*>(values.data()), sizeof(double) * values.size()});
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm world = MPI_COMM_WORLD;
  int rank = 0, p = 1;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &p);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
  for (int round = 0; round < rounds; ++round)
    for (const int count : {1, 500, 20'000}) {
      const std::vector<int> counts(static_cast<std::size_t>(p), count);
      const Numbers mine = numbers(rank, count), wide = numbers(rank, count * p);
      Numbers out(mine.size());
      std::uint64_t of_all[5];
      MPI_Allreduce(mine.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, world);
      of_all[0] = bits(out);
      MPI_Reduce(mine.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, 0, world);
      of_all[1] = rank == 0 ? bits(out) : 0;
      MPI_Reduce_scatter_block(wide.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, world);
      of_all[2] = bits(out);
      MPI_Reduce_scatter(wide.data(), out.data(), counts.data(), MPI_DOUBLE, MPI_SUM, world);
      of_all[3] = bits(out);
      MPI_Scan(mine.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, world);
      of_all[4] = bits(out);
      std::uint64_t sums[5];
      PMPI_Reduce(of_all, sums, 5, MPI_UINT64_T, MPI_SUM, 0, world);
      std::uint64_t extremes[] = {of_all[0], ~of_all[0]};
      PMPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_UINT64_T, MPI_MAX, world);
      if (extremes[0] != ~extremes[1]) std::printf("ranks differ\n");
      if (rank == 0)
        std::printf(
            "sums of %d: %016llx %016llx %016llx %016llx %016llx\n", count,
            static_cast<unsigned long long>(sums[0]), static_cast<unsigned long long>(sums[1]),
            static_cast<unsigned long long>(sums[2]), static_cast<unsigned long long>(sums[3]),
            static_cast<unsigned long long>(sums[4]));
    }
  MPI_Finalize();
  return 0;
}
