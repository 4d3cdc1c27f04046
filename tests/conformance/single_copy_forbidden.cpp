// A system that lets no process read another's memory: long messages go through the shared memory
// then, and are right; and nothing that Unisono sends needs it.
//
//   mpiexec -n P single_copy_forbidden [all|last|undumpable|nothing]
//
// all, last: a filter of system calls on all ranks, or on the last one, as containers have it.
// undumpable: as a program with file capabilities is, for users other than root. nothing: the
// program's file is not readable, which has the same effect.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "check.h"

namespace {

/// process_vm_readv and process_vm_writev fail with EPERM from now on.
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
  char from = 1, to = 0;
  iovec local{&to, 1}, remote{&from, 1};
  CHECK(process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == -1 && errno == EPERM);
}

bool is_last() {
  const char* rank = std::getenv("PMI_RANK");
  const char* size = std::getenv("PMI_SIZE");
  if (rank == nullptr) rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (size == nullptr) size = std::getenv("OMPI_COMM_WORLD_SIZE");
  return rank != nullptr && size != nullptr && std::atoi(rank) + 1 == std::atoi(size);
}

void forbid(const std::string& how) {
  if (how == "all" || (how == "last" && is_last())) forbid();
  if (how == "undumpable") CHECK(prctl(PR_SET_DUMPABLE, 0) == 0);
}

}  // namespace

int main(int argc, char** argv) {
  forbid(argc > 1 ? argv[1] : "all");
  MPI_Init(&argc, &argv);
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  const int size = conformance::size_of(MPI_COMM_WORLD);
  for (const bool messages : {false, true}) {
    conformance::force("allreduce", messages ? "recursive_doubling:transport=shm" : "shm");
    conformance::force("bcast", messages ? "binomial:transport=shm" : "shm");
    for (const int count : {1, 1000, 1 << 18}) {
      std::vector<int> mine(static_cast<std::size_t>(count), me), sum(mine.size());
      MPI_Allreduce(mine.data(), sum.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      CHECK(sum.front() == size * (size - 1) / 2 && sum.back() == sum.front());
      MPI_Bcast(mine.data(), count, MPI_INT, size - 1, MPI_COMM_WORLD);
      CHECK(mine.front() == size - 1 && mine.back() == size - 1);
    }
  }
  conformance::passed("single_copy_forbidden", 12, 12);
  MPI_Finalize();
  return 0;
}
