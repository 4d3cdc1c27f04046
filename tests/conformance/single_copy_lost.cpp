// A rank that may no longer read or write other processes' memory after the first calls: long
// messages go through the shared memory from then on, whoever the ranks are, and are right.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>

#include "check.h"

namespace {

void forbid() {
  const unsigned number = offsetof(seccomp_data, nr);
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

constexpr int kCount = 1 << 18;

void run_all(int me, int size) {
  std::vector<int> mine(kCount, me), sum(mine.size());
  MPI_Allreduce(mine.data(), sum.data(), kCount, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum.front() == size * (size - 1) / 2 && sum.back() == sum.front());
  MPI_Allreduce(MPI_IN_PLACE, mine.data(), kCount, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(mine == sum);
  std::vector<int> all(mine.size() * static_cast<std::size_t>(size), -1);
  mine.assign(mine.size(), me);
  MPI_Gather(mine.data(), kCount, MPI_INT, all.data(), kCount, MPI_INT, 0, MPI_COMM_WORLD);
  if (me == 0) CHECK(all.back() == size - 1);
  if (me == 0) all[static_cast<std::size_t>(kCount)] = 7;
  MPI_Scatter(all.data(), kCount, MPI_INT, mine.data(), kCount, MPI_INT, 0, MPI_COMM_WORLD);
  CHECK(mine.back() == me && mine.front() == (me == 1 ? 7 : me));
  MPI_Bcast(mine.data(), kCount, MPI_INT, size - 1, MPI_COMM_WORLD);
  CHECK(mine.back() == size - 1);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  const int size = conformance::size_of(MPI_COMM_WORLD);
  for (const char* collective : {"allreduce", "gather", "scatter", "bcast"})
    conformance::force(collective, "shm_direct");
  run_all(me, size);
  for (const char* collective : {"allreduce", "gather", "scatter", "bcast"})
    conformance::force(collective, "shm");
  if (me == size - 1) forbid();
  for (int i = 0; i < 2; ++i) run_all(me, size);
  conformance::passed("single_copy_lost", 15, 15);
  MPI_Finalize();
  return 0;
}
