// System calls that fail, as the filter of a container or another kernel has it.
#pragma once
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <iterator>

namespace conformance {

/// From now on, also in what this process becomes.
template <std::size_t kLength>
bool filter_calls(sock_filter (&program)[kLength]) {
  const sock_fprog filter{static_cast<unsigned short>(kLength), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// process_vm_readv and process_vm_writev fail with EPERM. Whether they do.
inline bool deny_copies() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  char from = 1, to = 0;
  iovec local{&to, 1}, remote{&from, 1};
  return filter_calls(program) && process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == -1 &&
         errno == EPERM;
}

/// Sleeps on words that other processes may wake, and these wake-ups, fail with ENOSYS. Whether
/// they do. The C library needs those within a process.
inline bool deny_futexes() {
  constexpr unsigned second = offsetof(seccomp_data, args) + sizeof(seccomp_data::args[0]);
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, second),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_WAIT, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_WAKE, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  unsigned word = 0;
  return filter_calls(program) &&
         syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0) == -1 && errno == ENOSYS;
}

/// As the launcher says.
inline bool is_last_rank() {
  const char* rank = std::getenv("PMI_RANK");
  const char* size = std::getenv("PMI_SIZE");
  if (rank == nullptr) rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (size == nullptr) size = std::getenv("OMPI_COMM_WORLD_SIZE");
  return rank != nullptr && size != nullptr && std::atoi(rank) + 1 == std::atoi(size);
}

}  // namespace conformance
