// Runs a program in which copies between processes, or sleeps on words that processes share, are
// denied on the last rank or on all.
//
//   mpiexec -n P deny copies|futexes one|all PROGRAM [ARGUMENT...]
#include "deny.h"

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  const bool copies = argc > 1 && std::strcmp(argv[1], "copies") == 0;
  if (argc < 4 || (!copies && std::strcmp(argv[1], "futexes") != 0)) return 2;
  const bool on_all = std::strcmp(argv[2], "all") == 0;
  if ((on_all || conformance::is_last_rank()) &&
      !(copies ? conformance::deny_copies() : conformance::deny_futexes())) {
    std::perror("deny: the filter of system calls");
    return 2;
  }
  execvp(argv[3], argv + 3);
  std::perror(argv[3]);
  return 2;
}
