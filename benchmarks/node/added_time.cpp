// What a small collective of two ranks takes beyond what no way around can save: an exchange of two
// cache lines. Plain MPI; run it with and without Unisono:
//
//   mpiexec -n 2 build/bin/unisono-added-time-mpich
//   mpiexec -n 2 build/bin/unisono-exec build/bin/unisono-added-time-mpich
//
// All are measured in turn, 200 times, and the difference to the exchange next to it counts. How
// long a line takes from core to core depends on which it is (200 to 265 ns for an exchange, on two
// cores of a Sapphire Rapids): the exchange uses as many in turn as Unisono does.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <new>
#include <vector>

namespace {

constexpr int kBlocks = 200, kCalls = 2000;
constexpr std::size_t kInTurn = 8;

/// Two lines as processors fetch them, so that they come together.
struct alignas(128) Line {
  std::atomic<std::uint64_t> step{0};
};

using Lines = std::array<Line, kInTurn>;

struct Ranks {
  Lines* of = nullptr;  ///< each rank
  std::size_t me = 0;
  std::uint64_t step = 0;  ///< not read from a line: the other rank has it
};

void exchange(Ranks& ranks) {
  const std::size_t line = ++ranks.step % kInTurn;
  ranks.of[ranks.me][line].step.store(ranks.step, std::memory_order_release);
  while (ranks.of[1 - ranks.me][line].step.load(std::memory_order_acquire) < ranks.step) {
  }
}

void barrier(Ranks&) { MPI_Barrier(MPI_COMM_WORLD); }

void allreduce(Ranks&) {
  double in = 1, out = 0;
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

void allgather(Ranks&) {
  double in = 1;
  std::array<double, 2> out{};
  MPI_Allgather(&in, 1, MPI_DOUBLE, out.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
}

struct Subject {
  const char* name;
  void (*call)(Ranks&);
};
constexpr Subject kSubjects[] = {{"exchange of two lines", exchange},
                                 {"MPI_Barrier", barrier},
                                 {"MPI_Allreduce of 8 bytes", allreduce},
                                 {"MPI_Allgather of 8 bytes", allgather}};
constexpr std::size_t kCount = std::size(kSubjects);

/// Of a call, on this rank.
double nanoseconds(const Subject& subject, Ranks& ranks) {
  exchange(ranks);
  const double begin = MPI_Wtime();
  for (int i = 0; i < kCalls; ++i) subject.call(ranks);
  return (MPI_Wtime() - begin) / kCalls * 1e9;
}

struct Quartiles {
  double low, median, high;
};
Quartiles quartiles(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return {values[n / 4], values[n / 2], values[3 * n / 4]};
}

void print(const std::array<std::vector<double>, kCount>& times) {
  std::printf("%-26s %8s %34s\n", "ns", "time", "added to the exchange (quartiles)");
  for (std::size_t i = 0; i < kCount; ++i) {
    std::printf("%-26s %8.0f", kSubjects[i].name, quartiles(times[i]).median);
    std::vector<double> added(times[i]);
    for (std::size_t block = 0; block < added.size(); ++block) added[block] -= times[0][block];
    const auto [low, median, high] = quartiles(added);
    if (i > 0) std::printf(" %10.0f (%.0f - %.0f)", median, low, high);
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    if (rank == 0) std::fprintf(stderr, "unisono-added-time: wants two ranks: mpiexec -n 2 ...\n");
    MPI_Finalize();
    return 2;
  }
  Ranks ranks{nullptr, static_cast<std::size_t>(rank), 0};
  MPI_Win window = MPI_WIN_NULL;
  void* memory = nullptr;
  MPI_Aint bytes = rank == 0 ? 2 * sizeof(Lines) : 0;
  int unit = 1;
  MPI_Win_allocate_shared(bytes + (rank == 0 ? alignof(Line) : 0), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                          &memory, &window);
  MPI_Win_shared_query(window, 0, &bytes, &unit, &memory);
  // The same place in both processes' mappings, which begin with a page.
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  ranks.of = reinterpret_cast<Lines*>((address + alignof(Line) - 1) & ~(alignof(Line) - 1));
  if (rank == 0) new (ranks.of) std::array<Lines, 2>;
  MPI_Barrier(MPI_COMM_WORLD);

  std::array<std::vector<double>, kCount> times;
  for (int block = -1; block < kBlocks; ++block)  // the first one warms up
    for (std::size_t i = 0; i < kCount; ++i) {
      const double time = nanoseconds(kSubjects[i], ranks);
      if (block >= 0) times[i].push_back(time);
    }
  if (rank == 0) print(times);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
