// Communicators that are not of processes stay with the MPI library, and those that are, however
// they were made, are served.
//
//   mpiexec -n P kinds_of_communicators
#include <thread>

#include "check.h"

namespace {

/// A reduction and a barrier, as often as it takes for Unisono to make what it needs for one.
void use(MPI_Comm comm) {
  const int size = conformance::size_of(comm), rank = conformance::rank_in(comm);
  for (int i = 0; i < 40; ++i) {
    int sum = -1;
    CHECK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK(sum == size * (size - 1) / 2);
  }
  CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
}

void use_and_free(MPI_Comm comm) {
  use(comm);
  MPI_Comm_free(&comm);
}

/// Number of calls that Unisono ran in `what`.
template <class What>
unsigned long long own_calls_of(What what) {
  const unsigned long long before = conformance::own_calls();
  what();
  return conformance::own_calls() - before;
}

#ifdef MPICH_NAME
/// So many ranks in each process. Several threads meet it at the same time; it is switched off and
/// on again.
void threads_as_ranks(int threads) {
  MPI_Comm comm = MPI_COMM_NULL;
  CHECK(MPIX_Threadcomm_init(MPI_COMM_WORLD, threads, &comm) == MPI_SUCCESS);
  for (int twice = 0; twice < 2; ++twice) {
    std::vector<std::thread> ranks;
    for (int i = 0; i < threads; ++i)
      ranks.emplace_back([comm] {
        MPIX_Threadcomm_start(comm);
        use(comm);
        MPIX_Threadcomm_finish(comm);
      });
    for (std::thread& rank : ranks) rank.join();
  }
  MPIX_Threadcomm_free(&comm);
}

/// Rank 0 attaches no stream where `all` is not set: all must decide alike all the same.
void streams(bool all) {
  MPIX_Stream stream = MPIX_STREAM_NULL;
  const bool attaches = all || conformance::rank_in(MPI_COMM_WORLD) != 0;
  if (attaches) CHECK(MPIX_Stream_create(MPI_INFO_NULL, &stream) == MPI_SUCCESS);
  MPI_Comm comm = MPI_COMM_NULL, copy = MPI_COMM_NULL;
  CHECK(MPIX_Stream_comm_create(MPI_COMM_WORLD, stream, &comm) == MPI_SUCCESS);
  MPI_Comm_dup(comm, &copy);
  use_and_free(copy);
  use_and_free(comm);
  if (attaches) MPIX_Stream_free(&stream);
}
#endif

void of_processes() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  use_and_free(comm);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -conformance::rank_in(MPI_COMM_WORLD), &comm);
  use_and_free(comm);
  const int size = conformance::size_of(MPI_COMM_WORLD), periods[] = {0};
  for (const int members : {size, size - 1}) {  // MPICH's oddity: see group_of
    MPI_Cart_create(MPI_COMM_WORLD, 1, &members, periods, 0, &comm);
    if (comm != MPI_COMM_NULL) use_and_free(comm);
  }
  use(MPI_COMM_SELF);
}

}  // namespace

int main(int argc, char** argv) {
  int threads = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);
  CHECK(threads == MPI_THREAD_MULTIPLE);
  conformance::force("allreduce", "recursive_doubling");
  const auto served = own_calls_of(of_processes);
  const auto dups_served = conformance::has_unisono() ? 3ULL * 40 : 0ULL;
  CHECK(served >= dups_served);
#ifdef MPICH_NAME
  for (const int ranks : {1, 2}) CHECK(own_calls_of([ranks] { threads_as_ranks(ranks); }) == 0);
  for (const bool all : {true, false}) CHECK(own_calls_of([all] { streams(all); }) == 0);
#endif
  conformance::passed("kinds_of_communicators", 3 * 40, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
