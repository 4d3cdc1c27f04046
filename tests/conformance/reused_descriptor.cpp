// A program that closes descriptor 2 before MPI_Init and keeps its data in the file that it opens
// next: nothing of ours may come into it, though UNISONO_LOG asks for lines.
//
//   UNISONO_LOG=decision mpiexec -n 2 unisono-exec reused_descriptor
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "check.h"

int main(int argc, char** argv) {
  char name[] = "/tmp/reused_descriptor.XXXXXX";
  close(STDERR_FILENO);
  CHECK(mkstemp(name) == STDERR_FILENO);
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 100; ++i) {
    const int one = 1;
    int sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == conformance::size_of(MPI_COMM_WORLD));
  }
  conformance::passed("reused_descriptor", 1, conformance::kAnyNumber);
  MPI_Finalize();
  std::string kept(1000, '\0');
  kept.resize(static_cast<std::size_t>(pread(STDERR_FILENO, kept.data(), kept.size(), 0)));
  unlink(name);
  CHECK(kept.find("unisono") == std::string::npos);
  return 0;
}
