// Bcasts back to back, from one root and from changing roots: what a call costs when the next one
// follows.
//
//   mpiexec -n P unisono-stream BYTES CALLS LATE_MS SERIES [FILE]
//
// Plain MPI; experiments/pipelines/stream.py runs it. A series is CALLS calls, each with a buffer
// of its own; the roots of a changing series are 0, 1, 2, ... Late: the rank in the middle begins
// LATE_MS after the others. SERIES series of each of the four kinds, in turn, after one of each
// that is not counted. A time is from a barrier to the last rank's last exit. All data are checked
// after each series; wrong bytes are counted. Rank 0 writes a JSON object.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::vector<unsigned char>;

struct World {
  int rank = 0, ranks = 1;
};

struct Kind {
  bool changing = false, late = false;
  std::vector<double> seconds = {};
};

struct Series {
  int bytes = 0, calls = 0, late_ms = 0;
  std::vector<Bytes> data = {};
  long long wrong = 0;
};

unsigned char value(int turn, int call, std::size_t index) {
  const auto mixed = static_cast<unsigned>(index) * 2654435761U +
                     static_cast<unsigned>(call) * 97U + static_cast<unsigned>(turn) * 31U;
  return static_cast<unsigned char>(mixed >> 13);
}

int root_of(const Kind& kind, int call, const World& world) {
  return kind.changing ? call % world.ranks : 0;
}

void fill(Series& series, const Kind& kind, int turn, const World& world) {
  for (int call = 0; call < series.calls; ++call) {
    Bytes& data = series.data[static_cast<std::size_t>(call)];
    const bool is_root = root_of(kind, call, world) == world.rank;
    for (std::size_t i = 0; i < data.size(); ++i)
      data[i] = is_root ? value(turn, call, i) : static_cast<unsigned char>(~value(turn, call, i));
  }
}

void check(Series& series, int turn) {
  for (int call = 0; call < series.calls; ++call) {
    const Bytes& data = series.data[static_cast<std::size_t>(call)];
    for (std::size_t i = 0; i < data.size(); ++i) series.wrong += data[i] != value(turn, call, i);
  }
}

double run(Series& series, const Kind& kind, int turn, const World& world) {
  fill(series, kind, turn, world);
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = Clock::now();
  if (kind.late && world.rank == world.ranks / 2)
    std::this_thread::sleep_for(std::chrono::milliseconds(series.late_ms));
  for (int call = 0; call < series.calls; ++call)
    MPI_Bcast(series.data[static_cast<std::size_t>(call)].data(), series.bytes, MPI_CHAR,
              root_of(kind, call, world), MPI_COMM_WORLD);
  const double own = std::chrono::duration<double>(Clock::now() - begin).count();
  double latest = 0;
  MPI_Allreduce(&own, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  check(series, turn);
  return latest;
}

void write(std::FILE* file, const Series& series, const std::vector<Kind>& kinds, int ranks,
           long long wrong) {
  std::fprintf(file,
               "{\"ranks\": %d, \"bytes\": %d, \"calls\": %d, \"late_ms\": %d, \"wrong\": %lld, ",
               ranks, series.bytes, series.calls, series.late_ms, wrong);
  std::fprintf(file, "\"kinds\": [");
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    std::fprintf(file, "%s{\"changing\": %s, \"late\": %s, \"seconds\": [", k == 0 ? "" : ", ",
                 kinds[k].changing ? "true" : "false", kinds[k].late ? "true" : "false");
    for (std::size_t i = 0; i < kinds[k].seconds.size(); ++i)
      std::fprintf(file, "%s%.6f", i == 0 ? "" : ", ", kinds[k].seconds[i]);
    std::fprintf(file, "]}");
  }
  std::fprintf(file, "]}\n");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  World world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
  const bool good = argc >= 5 && std::atoi(argv[1]) > 0 && std::atoi(argv[2]) > 0;
  long long wrong = 0;
  if (good) {
    Series series{std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3])};
    series.data.assign(static_cast<std::size_t>(series.calls),
                       Bytes(static_cast<std::size_t>(series.bytes)));
    std::vector<Kind> kinds{{false, false}, {true, false}, {false, true}, {true, true}};
    int turn = 0;
    for (int i = 0; i <= std::atoi(argv[4]); ++i)
      for (Kind& kind : kinds) {
        const double seconds = run(series, kind, ++turn, world);
        if (i > 0) kind.seconds.push_back(seconds);
      }
    MPI_Allreduce(&series.wrong, &wrong, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (world.rank == 0) {
      std::FILE* file = argc > 5 ? std::fopen(argv[5], "w") : stdout;
      if (file != nullptr) write(file, series, kinds, world.ranks, wrong);
      if (file != nullptr && file != stdout) std::fclose(file);
    }
  }
  MPI_Finalize();
  return !good ? 2 : wrong != 0 ? 1 : 0;
}
