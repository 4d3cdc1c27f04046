// Collectives in the delete function of an attribute, on the communicator that is freed. Rank 0 has
// set it before the first collective, the others after the last, so that on rank 0 it is called
// before or after Unisono's own, and on the others the other way round.
#include <numeric>

#include "check.h"

namespace {

constexpr int kInts = 1000, kCallsInDelete = 3;

void sum(MPI_Comm comm, int call) {
  const int me = conformance::rank_in(comm), p = conformance::size_of(comm);
  std::vector<int> data(kInts), sums(kInts, -1);
  std::iota(data.begin(), data.end(), me + call);
  MPI_Allreduce(data.data(), sums.data(), kInts, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < kInts; ++i)
    CHECK(sums[static_cast<std::size_t>(i)] == p * (p - 1) / 2 + p * (call + i));
}

int g_deleted = 0;

int sum_at_the_end(MPI_Comm comm, int, void*, void*) {
  for (int call = 0; call < kCallsInDelete; ++call) sum(comm, call);
  MPI_Barrier(comm);
  ++g_deleted;
  return MPI_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  int key = MPI_KEYVAL_INVALID, freed = 0;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, sum_at_the_end, &key, nullptr);
  // Around the number of calls from which on a communicator has memory of the node.
  for (const int calls : {0, 1, 8, 22, 29, 30, 31, 32, 40, 300})
    for (const bool is_forced : {false, true}) {
      conformance::force("allreduce", is_forced ? "shm" : "default");
      MPI_Comm comm = MPI_COMM_NULL;
      MPI_Comm_split(MPI_COMM_WORLD, 0, me, &comm);
      if (me == 0) MPI_Comm_set_attr(comm, key, nullptr);
      for (int call = 0; call < calls; ++call) sum(comm, call);
      if (me != 0) MPI_Comm_set_attr(comm, key, nullptr);
      calls % 2 != 0 ? MPI_Comm_disconnect(&comm) : MPI_Comm_free(&comm);
      CHECK(comm == MPI_COMM_NULL && g_deleted == ++freed);
    }
  MPI_Comm_free_keyval(&key);
  conformance::passed("delete_functions", 493, 1000);
  MPI_Finalize();
  return 0;
}
