// A rank dies, and the program handles errors: the calls of the others end with the error that an
// MPI library raises which handles failures, by themselves, and what the program does then works.
//
//   mpiexec --with-ft ulfm -n P rank_lost WAY    (Open MPI)
//
// WAY: fast, first, irregular, messages, ring, grid; known: as first, where all know of it before
// they call; or nodes: what looks to everybody like two nodes, where the leader of the second dies,
// and the others of the first wait for their own.
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "check.h"

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace {

constexpr int kFailed = MPI_ERR_PROC_FAILED;

int sum_of_ranks(MPI_Comm comm, int* sum) {
  const int own = conformance::rank_in(comm);
  return MPI_Allreduce(&own, sum, 1, MPI_INT, MPI_SUM, comm);
}

int gather_ranks(MPI_Comm comm, std::vector<int>& all) {
  const int own = conformance::rank_in(comm), size = conformance::size_of(comm);
  std::vector<int> counts(static_cast<std::size_t>(size), 1), displs;
  for (int i = 0; i < size; ++i) displs.push_back(i);
  all.resize(static_cast<std::size_t>(size));
  return MPI_Allgatherv(&own, 1, MPI_INT, all.data(), counts.data(), displs.data(), MPI_INT, comm);
}

int call(const std::string& way, MPI_Comm comm) {
  int sum = 0;
  std::vector<int> all;
  return way == "irregular" ? gather_ranks(comm, all) : sum_of_ranks(comm, &sum);
}

using conformance::class_of;

bool g_two_nodes = false;

/// What is forced for MPI_Allreduce.
std::string algorithm_of(const std::string& way) {
  if (way == "messages") return "ring:transport=shm";
  if (way == "ring") return "ring";
  if (way == "grid") return "grid:shape=2x2,rows=shm";
  if (way == "nodes") return "grid:shape=nodes,form=leaders,rows=shm";
  return "shm";
}

}  // namespace

// Before the MPI library's: who asks which ranks share memory is told that the halves do.
extern "C" int PMPI_Comm_split_type(MPI_Comm comm, int, int key, MPI_Info, MPI_Comm* part) {
  const bool second = 2 * conformance::rank_in(comm) >= conformance::size_of(comm);
  return PMPI_Comm_split(comm, g_two_nodes && second ? 1 : 0, key, part);
}

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "fast";
  g_two_nodes = way == "nodes";
  MPI_Init(&argc, &argv);
  const int me = conformance::rank_in(MPI_COMM_WORLD), size = conformance::size_of(MPI_COMM_WORLD);
  const int lost = g_two_nodes ? size / 2 : size - 1;
  MPI_Comm comm, pair;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  // The rank that dies is in no communicator of the first two.
  MPI_Comm_split(MPI_COMM_WORLD, me < 2 ? 0 : MPI_UNDEFINED, me, &pair);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  CHECK(unisono_force("allreduce", algorithm_of(way).c_str()) == 0);
  CHECK(unisono_force("allgatherv", "shm") == 0);
  if (way != "first" && way != "known")
    for (int i = 0; i < 3; ++i) CHECK(call(way, comm) == MPI_SUCCESS);
  int sum = 0;
  if (me < 2) CHECK(sum_of_ranks(pair, &sum) == MPI_SUCCESS && sum == 1);
  if (me == lost) raise(SIGKILL);
  if (way == "known") usleep(500000);

  const unsigned long long before = conformance::own_calls();
  CHECK(class_of(call(way, comm)) == kFailed);
  CHECK(class_of(call(way, comm)) ==
        kFailed);  // the MPI library's, which knows of it by now, or is told
  CHECK(conformance::own_calls() - before <= 1);
  if (me < 2) CHECK(sum_of_ranks(pair, &sum) == MPI_SUCCESS && sum == 1);  // nobody is missing
  MPI_Comm rest;
  CHECK(MPIX_Comm_shrink(comm, &rest) == MPI_SUCCESS);
  CHECK(conformance::size_of(rest) == size - 1);
  const unsigned long long shrunk = conformance::own_calls();
  CHECK(sum_of_ranks(rest, &sum) == MPI_SUCCESS && sum == (size - 1) * (size - 2) / 2);
  CHECK(conformance::own_calls() == shrunk + 1);
  if (me == 0) std::printf("rank_lost: passed\n");
  std::fflush(stdout);
  _exit(0);  // MPI_Finalize has its own ways with the dead
}
