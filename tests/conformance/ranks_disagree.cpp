// Ranks that call different collectives, or one with different sizes or roots, within a node: an
// error of the calls that see it, and never another rank's data.
//
//   mpiexec -n 2 ranks_disagree BYTES | roots | long-root | collectives
#include "check.h"

namespace {

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = conformance::rank_in(MPI_COMM_WORLD);
  const std::string what = argc > 1 ? argv[1] : "16";
  for (const char* collective : {"bcast", "allreduce", "barrier", "allgather"})
    conformance::force(collective, "shm");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  std::vector<char> data(16 << 20, 'x'), other(32, 'y');
  for (int i = 0; i < 100; ++i) {  // right calls, many of them in the memory of the node
    const int one = 1;
    int sum = 0;
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Bcast(data.data(), 8, MPI_CHAR, i % 2, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
  }
  int expected = MPI_ERR_OTHER, code = MPI_SUCCESS;
  if (what == "roots") {
    MPI_Bcast(data.data(), 8, MPI_CHAR, rank, MPI_COMM_WORLD);  // nobody waits for anybody
    code = MPI_Allgather(data.data(), 8, MPI_CHAR, other.data(), 8, MPI_CHAR, MPI_COMM_WORLD);
  } else if (what == "long-root") {
    // The root waits for the other rank, which has found out and left.
    expected = MPI_ERR_TRUNCATE;
    const int bytes = rank == 0 ? static_cast<int>(data.size()) : 8;
    code = MPI_Bcast(data.data(), bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK(class_of(code) == expected);
  } else if (what == "collectives") {
    code = rank == 0
               ? MPI_Barrier(MPI_COMM_WORLD)
               : MPI_Allgather(data.data(), 8, MPI_CHAR, other.data(), 8, MPI_CHAR, MPI_COMM_WORLD);
  } else {
    expected = MPI_ERR_TRUNCATE;
    const int bytes = rank == 0 ? 8 : std::stoi(what);
    code = MPI_Bcast(data.data(), bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
  }
  // Who only sends need not see it.
  if (rank == 1) {
    CHECK(class_of(code) == expected);
    CHECK(data == std::vector<char>(data.size(), 'x'));
  }
  int seen = 0;
  MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 0, &seen, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  conformance::passed("ranks_disagree", 100, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
