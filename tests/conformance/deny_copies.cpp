// Runs a program in which copies between processes are denied, on the last rank or on all.
//
//   mpiexec -n P deny_copies one|all PROGRAM [ARGUMENT...]
#include "deny_copies.h"

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const bool on_all = std::strcmp(argv[1], "all") == 0;
  if ((on_all || conformance::is_last_rank()) && !conformance::deny_copies()) {
    std::perror("deny_copies: the filter of system calls");
    return 2;
  }
  execvp(argv[2], argv + 2);
  std::perror(argv[2]);
  return 2;
}
