// UNISONO_LOG=decision on one rank only, which sees calls that the others leave to the MPI library
// beforehand: the next blocking call prepares what a nonblocking one has asked for, on all ranks.
//
//   UNISONO=fixed UNISONO_ALLREDUCE=ring mpiexec -n 2 one_rank_logs
#include <cstdlib>
#include <string_view>
#include <vector>

#include "check.h"

namespace {

/// As the launchers of both MPI libraries say it.
bool is_first() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* value = std::getenv(name)) return std::string_view(value) == "0";
  return false;
}

void sum_up(MPI_Comm comm, int rank, int p) {
  int sum = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum == p * (p - 1) / 2);
}

}  // namespace

int main(int argc, char** argv) {
  if (is_first()) setenv("UNISONO_LOG", "decision", 1);
  MPI_Init(&argc, &argv);
  const int rank = conformance::rank_in(MPI_COMM_WORLD), p = conformance::size_of(MPI_COMM_WORLD);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  sum_up(comm, rank, p);
  constexpr int kBytes = 3'000'000;  // no default has anything for an Allgather of so many
  std::vector<char> mine(kBytes, 'x'), all(std::size_t{kBytes} * static_cast<std::size_t>(p));
  MPI_Allgather(mine.data(), kBytes, MPI_CHAR, all.data(), kBytes, MPI_CHAR, comm);
  CHECK(all.back() == 'x');
  sum_up(comm, rank, p);
  MPI_Comm_free(&comm);
  conformance::passed("one_rank_logs", 1, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
