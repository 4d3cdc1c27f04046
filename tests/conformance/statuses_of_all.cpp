// MPI_Waitall with statuses while a collective is in flight: a null request among others, of which
// one fails. All that did not fail say so.
//
//   UNISONO_ALLREDUCE=ring mpiexec -n 2 statuses_of_all
#include <array>

#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = conformance::rank_in(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const std::array<int, 2> sent{1, 2};
  std::array<int, 2> right{};
  int sum = 0, short_one = 0;
  // The first one runs in the MPI library, and the duplicate is made.
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Request collective = MPI_REQUEST_NULL;
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &collective);
  if (rank == 0) {
    MPI_Send(sent.data(), 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Send(sent.data(), 2, MPI_INT, 1, 1, MPI_COMM_WORLD);
  } else {
    std::array<MPI_Request, 4> requests;
    requests.fill(MPI_REQUEST_NULL);
    MPI_Irecv(right.data(), 2, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&short_one, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[3]);
    std::array<MPI_Status, 4> statuses;
    for (MPI_Status& status : statuses) status.MPI_ERROR = 12345;
    const int code = MPI_Waitall(4, requests.data(), statuses.data());
    CHECK(conformance::class_of(code) == MPI_ERR_IN_STATUS);
    for (const std::size_t i : {0, 1, 2}) CHECK(statuses[i].MPI_ERROR == MPI_SUCCESS);
    CHECK(conformance::class_of(statuses[3].MPI_ERROR) == MPI_ERR_TRUNCATE);
    CHECK(right == sent);
  }
  MPI_Wait(&collective, MPI_STATUS_IGNORE);
  CHECK(sum == 1);
  conformance::passed("statuses_of_all", 1, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
