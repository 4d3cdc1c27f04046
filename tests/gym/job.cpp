// A job for the gym: calls of one collective after the other, with what a program may do between
// them. Plain MPI. `scripts/gym.py --record` runs it with UNISONO_ONLINE=shuffle,
// and traces it. Writes how many seconds each kind took.
//
//   gym_job_FLAVOUR CALLS PATTERN COLLECTIVE:BYTES...
//
// BYTES are those of the whole vector, or of a block. Sums are of integers, whose order nobody
// sees, so that the MPI library's own way is compared, too. PATTERN: loop (nothing between the
// calls), sleep (1 ms), compute (each rank for a time of its own), drift (a loop; from the middle
// on the last rank comes 2 ms late).
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

struct Buffers {
  std::vector<int> from, to;
};

using Calls = std::map<std::string, std::function<void(Buffers&, int)>>;

/// Of so many elements in the vector, or in each block.
const Calls& calls() {
  const MPI_Datatype kInt = MPI_INT;
  const MPI_Comm all = MPI_COMM_WORLD;
  static const Calls known = {
      {"barrier", [=](Buffers&, int) { MPI_Barrier(all); }},
      {"bcast", [=](Buffers& b, int n) { MPI_Bcast(b.from.data(), n, kInt, 0, all); }},
      {"reduce", [=](Buffers& b,
                     int n) { MPI_Reduce(b.from.data(), b.to.data(), n, kInt, MPI_SUM, 0, all); }},
      {"allreduce",
       [=](Buffers& b, int n) {
         MPI_Allreduce(b.from.data(), b.to.data(), n, kInt, MPI_SUM, all);
       }},
      {"scan",
       [=](Buffers& b, int n) { MPI_Scan(b.from.data(), b.to.data(), n, kInt, MPI_SUM, all); }},
      {"gather", [=](Buffers& b,
                     int n) { MPI_Gather(b.from.data(), n, kInt, b.to.data(), n, kInt, 0, all); }},
      {"scatter",
       [=](Buffers& b, int n) {
         MPI_Scatter(b.from.data(), n, kInt, b.to.data(), n, kInt, 0, all);
       }},
      {"allgather",
       [=](Buffers& b, int n) {
         MPI_Allgather(b.from.data(), n, kInt, b.to.data(), n, kInt, all);
       }},
      {"alltoall",
       [=](Buffers& b, int n) { MPI_Alltoall(b.from.data(), n, kInt, b.to.data(), n, kInt, all); }},
      {"reduce_scatter_block",
       [=](Buffers& b, int n) {
         MPI_Reduce_scatter_block(b.from.data(), b.to.data(), n, kInt, MPI_SUM, all);
       }},
  };
  return known;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Of the processor's time: what others get meanwhile of a core that ranks share does no work here.
void spin(double seconds) {
  const double end = processor_seconds() + seconds;
  while (processor_seconds() < end) continue;
}

/// What a rank does before call number `call` of `calls`.
void before_call(const std::string& pattern, int call, int calls, int rank, int size) {
  if (pattern == "sleep") usleep(1000);
  if (pattern == "compute") spin(50e-6 * (1 + (7 * rank + 3 * call) % 5));
  if (pattern == "drift" && call >= calls / 2 && rank == size - 1) usleep(2000);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int number = argc > 3 ? std::atoi(argv[1]) : 0;
  for (int i = 3; i < argc; ++i) {
    const std::string cell = argv[i];
    const std::size_t colon = cell.find(':');
    const auto known = calls().find(cell.substr(0, colon));
    if (known == calls().end() || colon == std::string::npos) {
      if (rank == 0) std::fprintf(stderr, "gym_job: '%s' is no COLLECTIVE:BYTES\n", argv[i]);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int elements = std::atoi(cell.c_str() + colon + 1) / static_cast<int>(sizeof(int));
    const auto room = static_cast<std::size_t>(elements) * static_cast<std::size_t>(size);
    Buffers buffers{std::vector<int>(room + 1, 1), std::vector<int>(room + 1)};
    PMPI_Barrier(MPI_COMM_WORLD);  // which no record contains
    const double begin = MPI_Wtime();
    for (int call = 0; call < number; ++call) {
      before_call(argv[2], call, number, rank, size);
      known->second(buffers, elements);
    }
    PMPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) std::printf("%s %.9f\n", argv[i], MPI_Wtime() - begin);
  }
  MPI_Finalize();
  return 0;
}
