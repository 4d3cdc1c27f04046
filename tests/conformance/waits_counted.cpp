// What waits cost where ranks share one core, in system calls: in a call in which all ranks wait
// for all others, a rank yields no more often than it may, sleeps at most once, and is woken by the
// one call of the rank that comes last.
//
//   UNISONO_WAIT=sleep:YIELDS mpiexec -n 4 unisono-exec waits_counted YIELDS
#include <dlfcn.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdarg>
#include <cstdlib>
#include <functional>

#include "check.h"

namespace {

/// Of this rank, in the calls that are counted.
struct Counts {
  int yields = 0;
  int woken = 0;  // sleeps that somebody ended
  int wakes = 0;  // calls that have woken somebody
};
Counts g_counts;

void count_in(const std::function<void()>& call, int yields) {
  constexpr int kCalls = 300;
  constexpr int kOthers = 30;  // the MPI library goes on meanwhile, and a sleep may end too early
  constexpr int kWarm = 20;    // in which the ranks' memory is made
  for (int i = 0; i < kWarm; ++i) call();
  g_counts = {};
  for (int i = 0; i < kCalls; ++i) call();
  const Counts own = g_counts;

  CHECK(own.yields <= kCalls * yields + kOthers);
  CHECK(own.woken <= kCalls + kOthers && (yields == 0 || own.yields > 0));
  std::array<int, 2> all{own.woken, own.wakes};
  PMPI_Allreduce(MPI_IN_PLACE, all.data(), 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const auto [woken, wakes] = all;
  CHECK(wakes <= kCalls + kOthers);
  // With one core the others have slept before the last one comes, unless it came while they
  // yielded.
  CHECK(woken >= wakes && (yields > 0 || woken > kCalls));
}

}  // namespace

/// In place of the C library's, for all libraries of the process.
extern "C" int sched_yield() noexcept {
  static const auto next = reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "sched_yield"));
  ++g_counts.yields;
  return next();
}
extern "C" [[gnu::visibility("default")]] long syscall(long number, ...) noexcept {
  static const auto next = reinterpret_cast<long (*)(long, ...)>(dlsym(RTLD_NEXT, "syscall"));
  std::array<long, 6> a{};
  va_list arguments;
  va_start(arguments, number);
  for (long& one : a) one = va_arg(arguments, long);
  va_end(arguments);
  const long result = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (number == SYS_futex && a[1] == FUTEX_WAIT && result == 0) ++g_counts.woken;
  if (number == SYS_futex && a[1] == FUTEX_WAKE && result > 0) ++g_counts.wakes;
  return result;
}

int main(int argc, char** argv) {
  conformance::share_one_core();
  conformance::force("barrier", "shm");
  conformance::force("allreduce", "shm");
  MPI_Init(&argc, &argv);
  const int yields = argc > 1 ? std::atoi(argv[1]) : 0;
  int from = 1, to = 0;
  count_in([] { MPI_Barrier(MPI_COMM_WORLD); }, yields);
  count_in([&] { MPI_Allreduce(&from, &to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }, yields);
  conformance::passed("waits_counted", 600, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
