// What MPI_Init takes, and with it the program's first collective call, which makes connections
// that are not there yet. Plain MPI; scripts/init_time.py runs it natively and with Unisono under
// it. The ranks must share a clock: they run in the lab, or on one host.
//
// Rank 0 prints a line of JSON, in seconds from when the last rank entered MPI_Init until the last
// one had left it (init) or the Allreduce after it (first_call), and the longest that a rank was in
// MPI_Init (longest), which counts how long processes take to be started.
#include <mpi.h>

#include <chrono>
#include <cstdio>

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double latest(double own) {
  double all = 0;
  MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const double entered = now();
  MPI_Init(&argc, &argv);
  const double left = now();
  double one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double called = now();
  const double begin = latest(entered), longest = latest(left - entered);
  const double init = latest(left), first_call = latest(called);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::printf("{\"init\": %.6f, \"first_call\": %.6f, \"longest\": %.6f}\n", init - begin,
                first_call - begin, longest);
  return MPI_Finalize();
}
