// A program of nine kinds of collective calls, so many of each in a row: what a user's program is
// to a selector that learns. Plain MPI; scripts/unasked.py runs it natively and with Unisono under
// it.
//
//   unisono-kinds-FLAVOUR [CALLS [LONG [SHORT [KINDS [PAUSE]]]]]   60 524288 32768 bcast,reduce,...
//   0
//
// KINDS may be all. Before each call a rank sleeps for PAUSE milliseconds, as if it computed on a
// core of its own. Rank 0 prints a line of JSON for each kind: seconds of all its calls, and from
// the eighth on, until all ranks have made them, pauses included; and what each of the first calls
// has taken on rank 0.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kFirst = 7;  // calls that a selector may use up
constexpr std::size_t kMostPrinted = 100;

struct Kind {
  const char* name;
  int bytes;
  std::function<void()> call;
};

/// Seconds until all ranks have made so many calls; adds each one's on this rank.
double seconds_of(const Kind& kind, int calls, std::chrono::milliseconds pause,
                  std::vector<double>& of_calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < calls; ++i) {
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    const double before = MPI_Wtime();
    kind.call();
    if (of_calls.size() < kMostPrinted) of_calls.push_back(MPI_Wtime() - before);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - begin;
}

void print(const Kind& kind, int calls, double before, double after,
           const std::vector<double>& of_calls) {
  std::printf(
      "{\"collective\": \"%s\", \"bytes\": %d, \"calls\": %d, \"seconds\": %.6f, "
      "\"from_eighth\": %.6f, \"on_rank_0\": [",
      kind.name, kind.bytes, calls, before + after, after);
  for (std::size_t i = 0; i < of_calls.size(); ++i)
    std::printf(i == 0 ? "%.6f" : ", %.6f", of_calls[i]);
  std::printf("]}\n");
}

/// Whether a list of names with commas has this one.
bool names(const std::string& list, const std::string& name) {
  return list == "all" || ("," + list + ",").find("," + name + ",") != std::string::npos;
}

int number(int argc, char** argv, int at, int standard) {
  return argc > at ? std::atoi(argv[at]) : standard;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int calls = number(argc, argv, 1, 60);
  const int vector = number(argc, argv, 2, 512 << 10), block = number(argc, argv, 3, 32 << 10);
  const std::chrono::milliseconds pause(number(argc, argv, 5, 0));
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto room = static_cast<std::size_t>(vector) +
                    static_cast<std::size_t>(block) * static_cast<std::size_t>(size);
  std::vector<float> from(room / sizeof(float), 1), to(room / sizeof(float), 0);
  float *const a = from.data(), *const b = to.data();
  const int v = vector / 4, k = block / 4;
  const MPI_Comm all = MPI_COMM_WORLD;
  const std::vector<Kind> kinds = {
      {"bcast", vector, [&] { MPI_Bcast(a, v, MPI_FLOAT, 0, all); }},
      {"reduce", vector, [&] { MPI_Reduce(a, b, v, MPI_FLOAT, MPI_SUM, 0, all); }},
      {"allreduce", vector, [&] { MPI_Allreduce(a, b, v, MPI_FLOAT, MPI_SUM, all); }},
      {"scan", vector, [&] { MPI_Scan(a, b, v, MPI_FLOAT, MPI_SUM, all); }},
      {"allgather", block, [&] { MPI_Allgather(a, k, MPI_FLOAT, b, k, MPI_FLOAT, all); }},
      {"alltoall", block, [&] { MPI_Alltoall(a, k, MPI_FLOAT, b, k, MPI_FLOAT, all); }},
      {"scatter", block, [&] { MPI_Scatter(a, k, MPI_FLOAT, b, k, MPI_FLOAT, 0, all); }},
      {"gather", block, [&] { MPI_Gather(a, k, MPI_FLOAT, b, k, MPI_FLOAT, 0, all); }},
      {"reduce_scatter_block", block,
       [&] { MPI_Reduce_scatter_block(a, b, k, MPI_FLOAT, MPI_SUM, all); }},
  };
  for (const Kind& kind : kinds) {
    if (argc > 4 && !names(argv[4], kind.name)) continue;
    const int first = calls < kFirst ? calls : kFirst;
    std::vector<double> of_calls;
    const double before = seconds_of(kind, first, pause, of_calls),
                 after = seconds_of(kind, calls - first, pause, of_calls);
    if (rank == 0) print(kind, calls, before, after, of_calls);
  }
  MPI_Finalize();
  return 0;
}
