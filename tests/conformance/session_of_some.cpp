// A session that only some ranks make, after MPI_Init: whether a rank has one is its own affair. In
// MPI_Finalize it goes on serving, and the others do not; what all of them are learning must end.
//
//   mpiexec -n P session_of_some RANKS    a bit for each rank that makes one
#include <unistd.h>

#include "check.h"

namespace {
constexpr int kCalls = 13, kCount = 16384;
}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = conformance::rank_in(MPI_COMM_WORLD), p = conformance::size_of(MPI_COMM_WORLD);
  CHECK(argc > 1);
  const bool makes_one = (std::atoi(argv[1]) >> me & 1) != 0;
  MPI_Session session = MPI_SESSION_NULL;
  const std::vector<int> ones(kCount, 1);
  std::vector<int> all(static_cast<std::size_t>(kCount * p));
  for (int call = 0; call < kCalls; ++call) {
    if (call == kCalls / 2 && makes_one)
      MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    all.assign(all.size(), -1);
    MPI_Allreduce(ones.data(), all.data(), kCount, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all[kCount - 1] == p);
    const std::vector<int> mine(kCount, call + me);
    MPI_Allgather(mine.data(), kCount, MPI_INT, all.data(), kCount, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < p; ++r) CHECK(all[static_cast<std::size_t>(r * kCount)] == call + r);
    const int root = call % p;
    all.assign(all.size(), me == root ? call : -1);
    MPI_Bcast(all.data(), kCount, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(all[0] == call && all[kCount - 1] == call);
  }
  if (me == 0) std::printf("session_of_some: passed\n");
  if (me == p - 1) usleep(100000);
  MPI_Finalize();
  if (session != MPI_SESSION_NULL) MPI_Session_finalize(&session);
  return 0;
}
