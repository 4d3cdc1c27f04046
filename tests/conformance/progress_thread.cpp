// UNISONO_PROGRESS=thread: a rank that calls nothing of MPI until the others have what they wait
// for, which they get only if its part of the collective goes on.
//
//   UNISONO_PROGRESS=thread mpiexec -n 2 progress_thread
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "all_kinds.h"

namespace {

using conformance::Ints;
using conformance::numbers;

constexpr int kInts = 100'000;

void see(const Ints& sum) { CHECK(sum[kInts - 1] == 2 * (kInts - 1) + 1); }

/// `start`: an Allreduce of two ranks, which takes two steps.
template <class Start>
void between_looks(int rank, const std::string& file, Start start) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Request request = start();
  if (rank == 1) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    std::fclose(std::fopen(file.c_str(), "w"));
  } else {
    struct stat there;
    while (stat(file.c_str(), &there) != 0) usleep(1000);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    unlink(file.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  conformance::force("allreduce", "ring");
  const int rank = conformance::rank_in(MPI_COMM_WORLD);
  int process = getpid();
  MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const std::string file = "/dev/shm/unisono-progress-" + std::to_string(process);
  const Ints mine = numbers(rank, kInts);
  Ints sum(kInts);
  MPI_Allreduce(mine.data(), sum.data(), kInts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int round = 0; round < 3; ++round) {
    sum.assign(kInts, -1);
    between_looks(rank, file + "a" + std::to_string(round), [&] {
      MPI_Request request;
      MPI_Iallreduce(mine.data(), sum.data(), kInts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
      return request;
    });
    see(sum);
  }
  MPI_Request request;
  MPI_Allreduce_init(mine.data(), sum.data(), kInts, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                     MPI_INFO_NULL, &request);
  for (int round = 0; round < 3; ++round) {
    sum.assign(kInts, -1);
    between_looks(rank, file + "b" + std::to_string(round), [&] {
      MPI_Start(&request);
      return request;
    });
    see(sum);
  }
  MPI_Request_free(&request);
  conformance::passed("progress_thread", 4, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
