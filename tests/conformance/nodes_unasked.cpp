// With nothing set, on two nodes of several ranks each (made_up_nodes.c): the MPI library's first
// calls are slow, and a grid by nodes takes their place. Its name is in what UNISONO_LOG=decision
// says; here the results, and that most calls were no longer the library's.
#include <numeric>

#include "check.h"

namespace {

constexpr int kCalls = 40, kInts = 16384;  // 64 KiB

void sum(int call) {
  const int me = conformance::rank_in(MPI_COMM_WORLD), p = conformance::size_of(MPI_COMM_WORLD);
  std::vector<int> data(kInts), sums(kInts, -1);
  std::iota(data.begin(), data.end(), me + call);
  MPI_Allreduce(data.data(), sums.data(), kInts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < kInts; ++i)
    CHECK(sums[static_cast<std::size_t>(i)] == p * (p - 1) / 2 + p * (call + i));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int call = 0; call < kCalls; ++call) sum(call);
  conformance::passed("nodes_unasked", kCalls / 2, kCalls);
  MPI_Finalize();
  return 0;
}
