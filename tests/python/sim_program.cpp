// Ranks share an address space in the simulator: each must see its own globals, ours and Unisono's.
#include <mpi.h>

#include <cstdio>
#include <vector>

// Only in programs that Unisono is linked to.
extern "C" __attribute__((weak)) void unisono_counts(unsigned long long* own,
                                                     unsigned long long* native);

namespace {

int g_rank = -1;
inline int g_inline = -1;

int sum_of_ranks(MPI_Comm comm) {
  int sum = 0;
  MPI_Allreduce(&g_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  g_inline = g_rank;
  MPI_Barrier(MPI_COMM_WORLD);

  int wrong = g_inline != g_rank || sum_of_ranks(MPI_COMM_WORLD) != size * (size - 1) / 2;
  for (int round = 0; round < 3; ++round) {  // communicators come and go
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, g_rank % 2, g_rank, &half);
    int expected = 0;
    for (int rank = g_rank % 2; rank < size; rank += 2) expected += rank;
    wrong += sum_of_ranks(half) != expected;
    MPI_Comm_free(&half);
  }
  std::vector<int> all(static_cast<std::size_t>(size));
  MPI_Allgather(&g_rank, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (int rank = 0; rank < size; ++rank) wrong += all[static_cast<std::size_t>(rank)] != rank;

  unsigned long long own = 0, native = 0;
  if (unisono_counts != nullptr) unisono_counts(&own, &native);
  if (g_rank == 0)
    std::printf("wrong %d, run by unisono %llu, %s\n", wrong, own, argc > 1 ? argv[1] : "-");
  MPI_Finalize();
  return wrong;
}
