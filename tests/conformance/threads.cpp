// MPI_THREAD_MULTIPLE: threads that use different communicators at the same time, make and free
// them, with forced algorithms.
#include <thread>

#include "check.h"

namespace {

void work(MPI_Comm comm, int thread, int rounds) {
  const int rank = conformance::rank_in(comm), size = conformance::size_of(comm);
  const auto p = static_cast<std::size_t>(size);
  for (int round = 0; round < rounds; ++round) {
    const int salt = thread * 100000 + round;
    std::vector<int> data(static_cast<std::size_t>(1 + round * 37 % 3000), rank == 0 ? salt : -1);
    MPI_Bcast(data.data(), static_cast<int>(data.size()), MPI_INT, 0, comm);
    CHECK(data.front() == salt && data.back() == salt);

    const int mine = salt + rank;
    int sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * salt + size * (size - 1) / 2);

    std::vector<int> send(p), received(p);
    for (std::size_t i = 0; i < p; ++i) send[i] = salt + rank * size + static_cast<int>(i);
    MPI_Alltoall(send.data(), 1, MPI_INT, received.data(), 1, MPI_INT, comm);
    for (std::size_t i = 0; i < p; ++i)
      CHECK(received[i] == salt + static_cast<int>(i) * size + rank);

    if (round % 8 == 0) {  // the other thread's communicators come and go meanwhile
      MPI_Comm inner;
      MPI_Comm_split(comm, 0, -rank, &inner);
      int first = rank;
      MPI_Bcast(&first, 1, MPI_INT, 0, inner);
      CHECK(first == size - 1);
      MPI_Comm_free(&inner);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    if (conformance::rank_in(MPI_COMM_WORLD) == 0)
      std::puts("threads: skipped, the MPI library has no MPI_THREAD_MULTIPLE");
    MPI_Finalize();
    return 0;
  }
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  conformance::force_all();
  MPI_Comm comms[2];
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::thread other(work, comms[1], 1, rounds);
  work(comms[0], 0, rounds);
  other.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  conformance::passed("threads", 6ULL * static_cast<unsigned long long>(rounds),
                      conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
