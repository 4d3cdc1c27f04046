// Torus=cart: a Cartesian communicator, and one of its lines, run the algorithms over a torus; a
// communicator without coordinates is left to others. Without Unisono it is only a test of the MPI
// library.
#include "check.h"

namespace {

constexpr int kCount = 1000;

void use(MPI_Comm comm) {
  const int size = conformance::size_of(comm), me = conformance::rank_in(comm);
  for (int root = 0; root < size; ++root) {
    std::vector<int> data(kCount, me == root ? root + 7 : -1);
    MPI_Bcast(data.data(), kCount, MPI_INT, root, comm);
    CHECK(data.front() == root + 7 && data.back() == root + 7);
    std::vector<int> own(kCount, me + 1), sum(kCount, -1);
    MPI_Allreduce(own.data(), sum.data(), kCount, MPI_INT, MPI_SUM, comm);
    CHECK(sum.front() == size * (size + 1) / 2 && sum.back() == sum.front());
  }
}

/// Where nothing is forced yet, a hint alone asks for the places.
void hinted(MPI_Comm grid) {
  MPI_Info hints = MPI_INFO_NULL;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "unisono_algorithm", "torus");
  std::vector<int> data(kCount, conformance::rank_in(grid) == 1 ? 5 : -1);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Bcast_init(data.data(), kCount, MPI_INT, 1, grid, hints, &request);
  MPI_Info_free(&hints);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(data.front() == 5 && data.back() == 5);
  MPI_Request_free(&request);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int sizes[] = {2, 2}, periods[] = {0, 1}, remain[] = {1, 0};
  MPI_Comm grid = MPI_COMM_NULL, line = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid);
  hinted(grid);
  const auto of_hint = conformance::own_calls();
  conformance::force("bcast", "torus:segment=512");
  conformance::force("allreduce", "torus:segment=512");
  use(MPI_COMM_WORLD);
  CHECK(conformance::own_calls() == of_hint);

  use(grid);
  MPI_Cart_sub(grid, remain, &line);
  use(line);
  MPI_Comm_free(&line);
  MPI_Comm_free(&grid);
  conformance::passed("torus_cart", 1 + 8 + 4, 1 + 8 + 4);
  MPI_Finalize();
  return 0;
}
