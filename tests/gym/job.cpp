// A job for the gym: calls of one collective after the other, with what a program may do between
// them. Plain MPI. `scripts/gym.py --record` runs it with UNISONO_ONLINE=shuffle,
// and traces it. Writes how many seconds each kind took.
//
//   gym_job_FLAVOUR CALLS PATTERN COLLECTIVE:BYTES...
//
// BYTES are those of the whole vector, or of a block. Sums are of integers, whose order nobody
// sees, so that the MPI library's own way is compared, too. PATTERN: loop (nothing between the
// calls), sleep (1 ms), meet (all ranks of the node sleep until the last one comes), compute (each
// rank for a time of its own), drift (a loop; from the middle on the last rank comes 2 ms late).
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

struct Buffers {
  Buffers(int elements, int ranks)
      : from(room(elements, ranks), 1),
        to(room(elements, ranks)),
        counts(static_cast<std::size_t>(ranks), elements),
        types(static_cast<std::size_t>(ranks), MPI_INT) {
    for (int rank = 0; rank < ranks; ++rank) {
      places.push_back(rank * elements);
      bytes.push_back(rank * elements * static_cast<int>(sizeof(int)));
    }
  }
  static std::size_t room(int elements, int ranks) {
    return static_cast<std::size_t>(elements) * static_cast<std::size_t>(ranks) + 1;
  }

  std::vector<int> from, to;
  std::vector<int> counts, places, bytes;  // of blocks of that many elements
  std::vector<MPI_Datatype> types;
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

/// With counts for each rank, all of them alike; and MPI_Exscan.
const Calls& calls_with_counts() {
  const MPI_Datatype kInt = MPI_INT;
  const MPI_Comm all = MPI_COMM_WORLD;
  static const Calls known = {
      {"exscan",
       [=](Buffers& b, int n) { MPI_Exscan(b.from.data(), b.to.data(), n, kInt, MPI_SUM, all); }},
      {"gatherv",
       [=](Buffers& b, int n) {
         MPI_Gatherv(b.from.data(), n, kInt, b.to.data(), b.counts.data(), b.places.data(), kInt, 0,
                     all);
       }},
      {"scatterv",
       [=](Buffers& b, int n) {
         MPI_Scatterv(b.from.data(), b.counts.data(), b.places.data(), kInt, b.to.data(), n, kInt,
                      0, all);
       }},
      {"allgatherv",
       [=](Buffers& b, int n) {
         MPI_Allgatherv(b.from.data(), n, kInt, b.to.data(), b.counts.data(), b.places.data(), kInt,
                        all);
       }},
      {"alltoallv",
       [=](Buffers& b, int) {
         MPI_Alltoallv(b.from.data(), b.counts.data(), b.places.data(), kInt, b.to.data(),
                       b.counts.data(), b.places.data(), kInt, all);
       }},
      {"alltoallw",
       [=](Buffers& b, int) {
         MPI_Alltoallw(b.from.data(), b.counts.data(), b.bytes.data(), b.types.data(), b.to.data(),
                       b.counts.data(), b.bytes.data(), b.types.data(), all);
       }},
      {"reduce_scatter",
       [=](Buffers& b, int) {
         MPI_Reduce_scatter(b.from.data(), b.to.data(), b.counts.data(), kInt, MPI_SUM, all);
       }},
  };
  return known;
}

/// Null: there is none.
const std::function<void(Buffers&, int)>* find_call(const std::string& name) {
  for (const Calls* some : {&calls(), &calls_with_counts()})
    if (const auto found = some->find(name); found != some->end()) return &found->second;
  return nullptr;
}

/// A barrier that knows nothing of MPI, in which the ranks of a node sleep.
class Meeting {
 public:
  Meeting(int rank, int size) {
    void* memory = nullptr;
    MPI_Aint bytes = 0;
    int unit = 1;
    MPI_Win_allocate_shared(rank == 0 ? sizeof(pthread_barrier_t) : 0, 1, MPI_INFO_NULL,
                            MPI_COMM_WORLD, &memory, &window_);
    MPI_Win_shared_query(window_, 0, &bytes, &unit, &memory);
    barrier_ = static_cast<pthread_barrier_t*>(memory);
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    if (rank == 0) pthread_barrier_init(barrier_, &shared, static_cast<unsigned>(size));
    PMPI_Barrier(MPI_COMM_WORLD);
  }
  void wait() { pthread_barrier_wait(barrier_); }
  void end() { MPI_Win_free(&window_); }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  pthread_barrier_t* barrier_ = nullptr;
};

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

/// Seconds of that many calls.
double seconds_of(const std::function<void(Buffers&, int)>& one, int elements, int number,
                  const std::string& pattern, Meeting* meeting) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Buffers buffers(elements, size);
  PMPI_Barrier(MPI_COMM_WORLD);  // which no record contains
  const double begin = MPI_Wtime();
  for (int call = 0; call < number; ++call) {
    before_call(pattern, call, number, rank, size);
    if (meeting != nullptr) meeting->wait();
    one(buffers, elements);
  }
  PMPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - begin;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int number = argc > 3 ? std::atoi(argv[1]) : 0;
  std::optional<Meeting> meeting;
  if (argc > 3 && std::string(argv[2]) == "meet") meeting.emplace(rank, size);
  for (int i = 3; i < argc; ++i) {
    const std::string cell = argv[i];
    const std::size_t colon = cell.find(':');
    const auto* const call = find_call(cell.substr(0, colon));
    if (call == nullptr || colon == std::string::npos) {
      if (rank == 0) std::fprintf(stderr, "gym_job: '%s' is no COLLECTIVE:BYTES\n", argv[i]);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int elements = std::atoi(cell.c_str() + colon + 1) / static_cast<int>(sizeof(int));
    const double seconds =
        seconds_of(*call, elements, number, argv[2], meeting ? &*meeting : nullptr);
    if (rank == 0) std::printf("%s %.9f\n", argv[i], seconds);
  }
  if (meeting) meeting->end();
  MPI_Finalize();
  return 0;
}
