// A communicator for one short call: split, an Allreduce of 8 bytes, free, in a loop. With Unisono
// and past it, in turn in one job:
//
//   mpiexec -n 2 build/bin/unisono-exec build/bin/unisono-churn-mpich [rounds of each way]
//
// Prints the time of a round of each way, the quotient with its interval, and what has grown.
// Without Unisono both ways are the MPI library's: that is what the method cannot tell apart.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int kBlocks = 40;

using Allreduce = int(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);

/// Microseconds of a round, on this rank.
double block(Allreduce* allreduce, int rounds) {
  PMPI_Barrier(MPI_COMM_WORLD);
  const double begin = PMPI_Wtime();
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
    double in = 1, out = 0;
    allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Comm_free(&comm);
  }
  return (PMPI_Wtime() - begin) / rounds * 1e6;
}

/// What a process holds.
struct Held {
  long memory_kib = 0;
  int mappings = 0, shared = 0;  ///< shared: of files in /dev/shm
};

Held held() {
  Held now;
  char line[1024];
  if (std::FILE* status = std::fopen("/proc/self/status", "r")) {
    while (std::fgets(line, sizeof line, status) != nullptr)
      if (std::strncmp(line, "VmRSS:", 6) == 0) now.memory_kib = std::atol(line + 6);
    std::fclose(status);
  }
  if (std::FILE* maps = std::fopen("/proc/self/maps", "r")) {
    while (std::fgets(line, sizeof line, maps) != nullptr) {
      ++now.mappings;
      if (std::strstr(line, "/dev/shm/") != nullptr) ++now.shared;
    }
    std::fclose(maps);
  }
  return now;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int rounds = std::max(1, (argc > 1 ? std::atoi(argv[1]) : 10000) / kBlocks);
  std::vector<double> ours, native, quotients;
  block(MPI_Allreduce, rounds);  // not counted: first touches of memory
  block(PMPI_Allreduce, rounds);
  const Held before = held();
  for (int i = 0; i < kBlocks; ++i) {
    const bool ours_first = i % 2 == 0;
    const double first = block(ours_first ? MPI_Allreduce : PMPI_Allreduce, rounds);
    const double second = block(ours_first ? PMPI_Allreduce : MPI_Allreduce, rounds);
    ours.push_back(ours_first ? first : second);
    native.push_back(ours_first ? second : first);
    quotients.push_back(ours.back() / native.back());
  }
  const Held after = held();
  if (rank == 0) {
    std::ranges::sort(quotients);
    // Order statistics that hold the median of 40 values with 96 %.
    std::printf("%d rounds of each way: %.2f us, native %.2f us, quotient %.3f [%.3f, %.3f]\n",
                rounds * kBlocks, median(ours), median(native), median(quotients), quotients[13],
                quotients[26]);
    std::printf("grown by %ld KiB of memory, %d mappings, %d of them in /dev/shm\n",
                after.memory_kib - before.memory_kib, after.mappings - before.mappings,
                after.shared - before.shared);
  }
  MPI_Finalize();
  return 0;
}
