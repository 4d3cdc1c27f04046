// With nothing set, on two nodes of several ranks each (made_up_nodes.c): from the first call on a
// grid by nodes runs, whose columns cannot overflow a port. Its name is in what
// UNISONO_LOG=decision says; here the results, and that no call was the MPI library's. The ranks
// round in different directions, which must not decide how messages are cut.
//
//   mpiexec -n P nodes_unasked [checked]
//
// checked: so many calls that the MPI library's own algorithm is timed in some of them.
#include <cfenv>
#include <numeric>

#include "check.h"

namespace {

constexpr int kCalls = 10, kInts = 16384;  // 64 KiB

void sum(int call) {
  const int me = conformance::rank_in(MPI_COMM_WORLD), p = conformance::size_of(MPI_COMM_WORLD);
  std::vector<int> data(kInts), sums(kInts, -1);
  std::iota(data.begin(), data.end(), me + call);
  MPI_Allreduce(data.data(), sums.data(), kInts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < kInts; ++i)
    CHECK(sums[static_cast<std::size_t>(i)] == p * (p - 1) / 2 + p * (call + i));
}

void pass_on(int call) {
  constexpr int kLong = 8192;  // 32 KiB
  const int me = conformance::rank_in(MPI_COMM_WORLD), p = conformance::size_of(MPI_COMM_WORLD);
  std::vector<int> data(kLong, me == call % p ? call : -1);
  MPI_Bcast(data.data(), kLong, MPI_INT, call % p, MPI_COMM_WORLD);
  CHECK(data.front() == call && data.back() == call);
}

/// Whose order is kept, so that nothing is compared.
void sum_in_order(int call) {
  constexpr int kDoubles = 4096;  // 32 KiB
  const int me = conformance::rank_in(MPI_COMM_WORLD), p = conformance::size_of(MPI_COMM_WORLD);
  std::vector<double> data(kDoubles, me + call), sums(kDoubles, -1);
  MPI_Reduce(data.data(), sums.data(), kDoubles, MPI_DOUBLE, MPI_SUM, call % p, MPI_COMM_WORLD);
  const double all = p * (p - 1) / 2 + p * call;
  if (me == call % p) CHECK(sums.front() == all && sums.back() == all);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::fesetround(conformance::rank_in(MPI_COMM_WORLD) % 2 == 0 ? FE_DOWNWARD : FE_UPWARD);
  if (argc > 1) {
    constexpr int kMany = 2500, kTimed = 2;
    for (int call = 0; call < kMany; ++call) pass_on(call);
    conformance::passed("nodes_unasked", kMany / 2, kMany - kTimed);
  } else {
    for (int call = 0; call < kCalls; ++call) sum(call);
    for (int call = 0; call < kCalls; ++call) sum_in_order(call);
    conformance::passed("nodes_unasked", 2 * kCalls, 2 * kCalls);
  }
  MPI_Finalize();
  return 0;
}
