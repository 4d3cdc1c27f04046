// Ranks that wait in a collective keep the MPI library going: others wait for what only it can send
// or answer. Long messages by rendezvous, passive one-sided access, and a process that forks.
#include <sys/wait.h>
#include <unistd.h>

#include <numeric>

#include "check.h"

namespace {

constexpr int kLong = 1 << 20;  // ints: no MPI library sends so many before it is asked for them

/// Rank 0 is in the barrier before its message can leave; the others are not before they have it.
void a_message_leaves_from_within_a_barrier(int me, int size) {
  std::vector<int> data(kLong);
  if (me == 0) {
    std::iota(data.begin(), data.end(), 1);
    std::vector<MPI_Request> requests(static_cast<std::size_t>(size - 1));
    for (int to = 1; to < size; ++to)
      MPI_Isend(data.data(), kLong, MPI_INT, to, 7, MPI_COMM_WORLD,
                &requests[static_cast<std::size_t>(to - 1)]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(size - 1, requests.data(), MPI_STATUSES_IGNORE);
    return;
  }
  usleep(20000);  // rank 0 has gone to sleep by then, where ranks sleep
  MPI_Recv(data.data(), kLong, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(data.front() == 1 && data.back() == kLong);
  MPI_Barrier(MPI_COMM_WORLD);
}

void a_window_answers_from_within_an_allreduce(int me, int size) {
  int *memory = nullptr, seen = -1;
  MPI_Win window;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, window);
  *memory = me + 100;
  MPI_Win_unlock(me, window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me != 0) {
    usleep(20000);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(&seen, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
    CHECK(seen == 100);
  }
  int sum = 0;
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == size * (size - 1) / 2);
  MPI_Win_free(&window);
}

/// Ranks 0 and 1 never wait long for each other, so that rank 0 is in the MPI library for nothing
/// but its collectives; and these go on until rank 2 has its message.
void a_message_leaves_between_short_collectives(int me, int size) {
  if (size < 3) return;
  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_WORLD, me < 2 ? 0 : MPI_UNDEFINED, me, &pair);
  std::vector<int> data(kLong);
  char answer = 0;
  if (me < 2) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (me == 0) MPI_Isend(data.data(), kLong, MPI_INT, 2, 8, MPI_COMM_WORLD, &request);
    for (int arrived = 0, all = 0; all == 0;) {
      if (me == 1) MPI_Iprobe(2, 9, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
      MPI_Allreduce(&arrived, &all, 1, MPI_INT, MPI_MAX, pair);
    }
    if (me == 1) MPI_Recv(&answer, 1, MPI_CHAR, 2, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&pair);
  } else if (me == 2) {
    MPI_Recv(data.data(), kLong, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&answer, 1, MPI_CHAR, 1, 9, MPI_COMM_WORLD);
  }
}

/// What the child has of its parent's memory it leaves alone.
void a_child_comes_and_goes(int me, int size) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
  CHECK(std::system("true") == 0);
  int sum = 0;
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == size * (size - 1) / 2);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  const int size = conformance::size_of(MPI_COMM_WORLD);
  conformance::force_all();
  for (int turn = 0; turn < 3; ++turn) {
    a_message_leaves_from_within_a_barrier(me, size);
    a_window_answers_from_within_an_allreduce(me, size);
    a_message_leaves_between_short_collectives(me, size);
  }
  a_child_comes_and_goes(me, size);
  // Three a turn and the last one; with a third rank one a turn or more until its message is there.
  if (size < 3)
    conformance::passed("progress", 10, 10);
  else
    conformance::passed("progress", 13, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
