// UNISONO_LOG=decision on one rank only, which sees calls that the others leave to the MPI library
// beforehand: the next blocking call prepares what a nonblocking one has asked for, on all ranks.
//
//   UNISONO=fixed UNISONO_ALLREDUCE=ring mpiexec -n 2 one_rank_logs 0
//   UNISONO_BCAST=chain:segment=auto UNISONO_ONLINE=off ... one_rank_logs 1 world    (on two nodes)
//   ... one_rank_logs 0 classes                  (on three nodes; one_rank_logs_test.py)
//
// The first argument: the rank that logs; world: not on a duplicate.
#include <cstdlib>
#include <string_view>
#include <vector>

#include "check.h"

namespace {

/// As the launchers of both MPI libraries say it.
bool is_rank(std::string_view number) {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* value = std::getenv(name)) return value == number;
  return false;
}

/// Two of them: the second one must still know that the first has wanted a segment.
void hand_down_twice(MPI_Comm comm) {
  std::vector<char> data(std::size_t{1} << 20, 'x');
  for (int call = 0; call < 2; ++call) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(data.data(), static_cast<int>(data.size()), MPI_CHAR, 0, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

void sum_up(MPI_Comm comm, int rank, int p) {
  int sum = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum == p * (p - 1) / 2);
}

/// In turn, of one size class: on three nodes the longer one has a safe arm, and the other has
/// none, so that ranks that do not log never look at it.
void long_and_short(MPI_Comm comm, int rank) {
  for (int call = 0; call < 100; ++call)
    for (const int bytes : {22 << 10, 17 << 10}) {
      std::vector<char> data(static_cast<std::size_t>(bytes), rank == 1 ? 'x' : '-');
      MPI_Bcast(data.data(), bytes, MPI_CHAR, 1, comm);
      CHECK(data.back() == 'x');
    }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && is_rank(argv[1])) setenv("UNISONO_LOG", "decision", 1);
  MPI_Init(&argc, &argv);
  const int rank = conformance::rank_in(MPI_COMM_WORLD), p = conformance::size_of(MPI_COMM_WORLD);
  MPI_Comm comm = MPI_COMM_WORLD;
  if (argc > 2 && std::string_view(argv[2]) == "classes") {
    long_and_short(comm, rank);
    conformance::passed("one_rank_logs", 0, conformance::kAnyNumber);
    MPI_Finalize();
    return 0;
  }
  if (argc < 3) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  sum_up(comm, rank, p);
  hand_down_twice(comm);
  // No default is about a Gather between hosts, no safe arm, and no profile about so many bytes.
  constexpr int kBytes = 3'000'000;
  std::vector<char> mine(kBytes, 'x'), all(std::size_t{kBytes} * static_cast<std::size_t>(p));
  MPI_Gather(mine.data(), kBytes, MPI_CHAR, all.data(), kBytes, MPI_CHAR, 0, comm);
  CHECK(rank != 0 || all.back() == 'x');
  sum_up(comm, rank, p);
  MPI_Bcast(all.data(), 1 << 20, MPI_CHAR, 0, comm);
  if (argc < 3) MPI_Comm_free(&comm);
  conformance::passed("one_rank_logs", 1, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
