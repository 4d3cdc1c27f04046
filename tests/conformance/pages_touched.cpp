// Of the memory that the ranks of a node share, a program's messages take the pages that they need:
// none for short ones beside the flags of the ranks, some slots for long ones, and all of the ring
// once so much has gone through it that the ranks measure the memory. Nothing set, pages are
// counted.
//
//   mpiexec -n P pages_touched
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "check.h"

namespace {

using conformance::rank_in;
using conformance::size_of;

constexpr std::size_t kPage = 4096;

/// Those of Unisono's memory that somebody has touched; -1: there is none. Its file never had a
/// name: /dev/shm/#, or a memfd of ours.
long pages() {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[4096];
  long found = -1;
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
    if (std::strstr(line, "/dev/shm/#") == nullptr &&
        std::strstr(line, "/memfd:unisono") == nullptr)
      continue;
    std::size_t begin = 0, end = 0;
    CHECK(std::sscanf(line, "%zx-%zx", &begin, &end) == 2);
    std::vector<unsigned char> touched((end - begin) / kPage);
    CHECK(mincore(reinterpret_cast<void*>(begin), end - begin, touched.data()) == 0);
    found = found < 0 ? 0 : found;
    for (const unsigned char page : touched) found += page & 1;
  }
  if (maps != nullptr) std::fclose(maps);
  return found;
}

/// The same on all ranks, between two calls.
long pages_now() {
  PMPI_Barrier(MPI_COMM_WORLD);
  const long found = pages();
  PMPI_Barrier(MPI_COMM_WORLD);
  return found;
}

void allreduce(int times, int count) {
  std::vector<double> mine(static_cast<std::size_t>(count), 1), sum(mine.size());
  for (int i = 0; i < times; ++i) {
    MPI_Allreduce(mine.data(), sum.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum.front() == size_of(MPI_COMM_WORLD) && sum.back() == sum.front());
  }
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(sysconf(_SC_PAGESIZE) == kPage);
  MPI_Init(&argc, &argv);
  const long ranks = size_of(MPI_COMM_WORLD);
  allreduce(50, 1);
  const long with_short = pages_now();
  allreduce(20, 2000);
  const long with_long = pages_now();
  allreduce(1500, 2000);  // 4 MiB and more go through the slots
  const long with_many = pages_now();
  if (rank_in(MPI_COMM_WORLD) == 0)
    std::printf("pages: %ld for short messages, %ld for long ones, %ld for many\n", with_short,
                with_long, with_many);
  // The map of the memory, the roster, and 2.5 KB of flags for each rank.
  CHECK(with_short > 0 && with_short <= 4 + ranks);
  // A third of a MiB for each rank.
  constexpr long kFirstSlots = 86, kBorders = 2;
  CHECK(with_long > with_short && with_long <= with_short + ranks * (kFirstSlots + kBorders));
  CHECK(with_many > with_long);
  conformance::passed("pages_touched", 1000, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
