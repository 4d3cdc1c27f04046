// A rank that is late finds no more than so many bytes of others' calls: between nodes a sender
// learns now and then that its messages have been taken. Rank 0 broadcasts again and again, while
// rank 1, on another node as far as Unisono knows, does not call MPI before rank 0 has stopped.
//
//   mpiexec -n 2 --mca pml ob1 --mca btl self,tcp late_receiver
//
// Through TCP, as between nodes: the memory of this one bounds by itself what is ahead.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "check.h"

namespace {

// Short enough for the MPI library to send them at once, whatever the receiver does.
constexpr int kBytes = 1000, kCalls = 4000;
constexpr int kMostAhead = 1 << 20;  // bytes: as in src/exec/ahead.h

using namespace std::chrono_literals;

/// Of both processes: how many calls rank 0 has done.
std::atomic<int>& shared_count(int rank) {
  MPI_Win window = MPI_WIN_NULL;
  void* memory = nullptr;
  MPI_Win_allocate_shared(rank == 0 ? sizeof(std::atomic<int>) : 0, 1, MPI_INFO_NULL,
                          MPI_COMM_WORLD, &memory, &window);
  MPI_Aint size = 0;
  int unit = 0;
  MPI_Win_shared_query(window, 0, &size, &unit, &memory);
  auto& count = *static_cast<std::atomic<int>*>(memory);
  if (rank == 0) count = 0;
  return count;  // and the window stays
}

int wait_until_it_stops(const std::atomic<int>& count) {
  while (count == 0) std::this_thread::sleep_for(1ms);
  for (int before = 0; before != count;) {
    before = count;
    std::this_thread::sleep_for(300ms);
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = conformance::rank_in(MPI_COMM_WORLD);
  conformance::force("bcast", "chain");
  std::atomic<int>& count = shared_count(rank);
  std::vector<char> data(kBytes);
  MPI_Bcast(data.data(), kBytes, MPI_CHAR, 0, MPI_COMM_WORLD);  // makes the duplicate
  MPI_Barrier(MPI_COMM_WORLD);
  int ahead = 0;
  if (rank == 1) ahead = wait_until_it_stops(count);
  for (int call = 1; call <= kCalls; ++call) {
    if (rank == 0) data.assign(kBytes, static_cast<char>(call));
    MPI_Bcast(data.data(), kBytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK(data[kBytes - 1] == static_cast<char>(call));
    if (rank == 0) count = call;
  }
  constexpr int kMost = kMostAhead / kBytes;
  if (rank == 1) CHECK(ahead > kMost / 2 && ahead <= kMost + 2);
  conformance::passed("late_receiver", kCalls, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
