// How much of a nonblocking collective is hidden behind computing that calls MPI_Test now and then.
//
//   mpiexec -n P unisono-overlap bcast|allreduce|allgather|alltoall BYTES,BYTES,... CALLS TESTS
//           [spin]
//
// Plain MPI; scripts/overlap_tests.py runs it. Computing is sleeping in TESTS slices as long as the
// call takes by itself, with MPI_Test after each: so a rank has a core of its own where they share
// some. `spin`: it is looking at the clock instead, for calls that are shorter than a sleep, and
// ranks with cores.
// BYTES as in Intel's benchmarks: of a vector, or of a rank's block. Rank 0 prints a line of JSON
// for each size: microseconds on the slowest rank, medians of CALLS calls, each after a barrier.
#include <mpi.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

bool g_spins = false;

struct Buffers {
  std::vector<char> in, out;
  int bytes = 0;
};

void start(std::string_view name, Buffers& b, MPI_Request* request) {
  const auto world = MPI_COMM_WORLD;
  if (name == "bcast") MPI_Ibcast(b.in.data(), b.bytes, MPI_CHAR, 0, world, request);
  if (name == "allreduce")
    MPI_Iallreduce(b.in.data(), b.out.data(), b.bytes / 4, MPI_FLOAT, MPI_SUM, world, request);
  if (name == "allgather")
    MPI_Iallgather(b.in.data(), b.bytes, MPI_CHAR, b.out.data(), b.bytes, MPI_CHAR, world, request);
  if (name == "alltoall")
    MPI_Ialltoall(b.in.data(), b.bytes, MPI_CHAR, b.out.data(), b.bytes, MPI_CHAR, world, request);
}

void call(std::string_view name, Buffers& b) {
  const auto world = MPI_COMM_WORLD;
  if (name == "bcast") MPI_Bcast(b.in.data(), b.bytes, MPI_CHAR, 0, world);
  if (name == "allreduce")
    MPI_Allreduce(b.in.data(), b.out.data(), b.bytes / 4, MPI_FLOAT, MPI_SUM, world);
  if (name == "allgather")
    MPI_Allgather(b.in.data(), b.bytes, MPI_CHAR, b.out.data(), b.bytes, MPI_CHAR, world);
  if (name == "alltoall")
    MPI_Alltoall(b.in.data(), b.bytes, MPI_CHAR, b.out.data(), b.bytes, MPI_CHAR, world);
}

/// Deadlines, so that what MPI_Test takes is part of the time and slices do not grow.
void compute(Microseconds length, int slices, MPI_Request* request) {
  const auto begin = Clock::now();
  for (int i = 1; i <= slices; ++i) {
    const auto end = begin + std::chrono::duration_cast<Clock::duration>(length * i / slices);
    if (!g_spins) std::this_thread::sleep_until(end);
    while (Clock::now() < end) {
    }
    int done = 0;
    if (request != nullptr) MPI_Test(request, &done, MPI_STATUS_IGNORE);
  }
}

double on_the_slowest(const std::function<void()>& what) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = Clock::now();
  what();
  const double own = Microseconds(Clock::now() - begin).count();
  double all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

double median(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  return (of[(of.size() - 1) / 2] + of[of.size() / 2]) / 2;
}

void measure(std::string_view name, int bytes, int calls, int tests, int size) {
  const std::size_t all = static_cast<std::size_t>(bytes) * static_cast<std::size_t>(size);
  Buffers b{std::vector<char>(all), std::vector<char>(all), bytes};
  MPI_Request request = MPI_REQUEST_NULL;
  const auto pure = [&] {
    start(name, b, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  };
  for (int i = 0; i < 2; ++i) on_the_slowest(pure);  // connections; the duplicate for Unisono
  std::vector<double> pures, overlapped, computing, blocking;
  for (int i = 0; i < calls; ++i) {
    pures.push_back(on_the_slowest(pure));
    blocking.push_back(on_the_slowest([&] { call(name, b); }));
  }
  const Microseconds length(median(pures));  // the same on all ranks
  for (int i = 0; i < calls; ++i) {
    computing.push_back(on_the_slowest([&] { compute(length, tests, nullptr); }));
    overlapped.push_back(on_the_slowest([&] {
      start(name, b, &request);
      compute(length, tests, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }));
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::printf(
        "{\"bytes\": %d, \"pure\": %.2f, \"blocking\": %.2f, \"computing\": %.2f, \"overlapped\": "
        "%.2f}\n",
        bytes, median(pures), median(blocking), median(computing), median(overlapped));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  prctl(PR_SET_TIMERSLACK, 1000UL);  // ns; slices are as short as 40 us
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const bool good = (argc == 5 || argc == 6) && std::atoi(argv[3]) > 0 && std::atoi(argv[4]) > 0;
  g_spins = argc == 6 && std::string_view(argv[5]) == "spin";
  if (good)
    for (std::string left = argv[2]; !left.empty();) {
      measure(argv[1], std::atoi(left.c_str()), std::atoi(argv[3]), std::atoi(argv[4]), size);
      const auto comma = left.find(',');
      left = comma == std::string::npos ? "" : left.substr(comma + 1);
    }
  MPI_Finalize();
  return good ? 0 : 2;
}
