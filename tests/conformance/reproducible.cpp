// Sums of numbers that are not associative, of every reducing collective, and maxima among which
// are NaN and zeros of either sign: rank 0 prints a number that tells whether all ranks have the
// same bits as in another job. Every second round has a communicator of its own, so that there are
// first calls, too. With a SEED every rank is late now and then.
//
//   mpiexec -n P reproducible ROUNDS [SEED]
#include <mpi.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
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

/// Whose maximum depends on the order: NaN on some ranks, zeros of either sign elsewhere.
Numbers hardly_ordered(int rank, int count) {
  Numbers all(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const double other = i % 2 == 0 ? rank : (rank % 2 == 0 ? 0.0 : -0.0);
    all[static_cast<std::size_t>(i)] = i % 2 == 0 && rank == 1 ? std::nan("") : other;
  }
  return all;
}

std::uint64_t bits(const Numbers& values) {
  return unisono::fnv1a(
      {reinterpret_cast<const char*>(values.data()), sizeof(double) * values.size()});
}

/// A rank that comes late to every fourth call.
class Latecomer {
 public:
  Latecomer(int seed, int rank)
      : is_late_(seed != 0), draw_(static_cast<unsigned>(seed * 1000 + rank)) {}
  void wait() {
    if (is_late_ && draw_() % 4 == 0) usleep(draw_() % 300);
  }

 private:
  bool is_late_;
  std::mt19937 draw_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, p = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
  Latecomer latecomer(argc > 2 ? std::atoi(argv[2]) : 0, rank);
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm world = MPI_COMM_WORLD;
    if (round % 2 != 0) MPI_Comm_dup(MPI_COMM_WORLD, &world);
    for (const int count : {1, 500, 20'000}) {
      const std::vector<int> counts(static_cast<std::size_t>(p), count);
      const Numbers mine = numbers(rank, count), wide = numbers(rank, count * p);
      Numbers out(mine.size());
      std::uint64_t of_all[5];
      latecomer.wait();
      MPI_Allreduce(mine.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, world);
      of_all[0] = bits(out);
      latecomer.wait();
      MPI_Reduce(mine.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, 0, world);
      of_all[1] = rank == 0 ? bits(out) : 0;
      latecomer.wait();
      MPI_Reduce_scatter_block(wide.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, world);
      of_all[2] = bits(out);
      latecomer.wait();
      MPI_Reduce_scatter(wide.data(), out.data(), counts.data(), MPI_DOUBLE, MPI_SUM, world);
      of_all[3] = bits(out);
      latecomer.wait();
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
    // So many short ones that the MPI library's own way would be compared.
    for (const int count : {1, 2, 500}) {
      const Numbers mine = hardly_ordered(rank, count);
      Numbers out(mine.size()), seen;
      for (int call = 0; call < 300; ++call) {
        if (call % 10 == 0) latecomer.wait();
        MPI_Allreduce(mine.data(), out.data(), count, MPI_DOUBLE, MPI_MAX, world);
        seen.insert(seen.end(), out.begin(), out.end());
      }
      if (rank == 0)
        std::printf("maxima of %d: %016llx\n", count, static_cast<unsigned long long>(bits(seen)));
    }
    if (world != MPI_COMM_WORLD) MPI_Comm_free(&world);
  }
  MPI_Finalize();
  return 0;
}
