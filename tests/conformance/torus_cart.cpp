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

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  conformance::force("bcast", "torus:segment=512");
  conformance::force("allreduce", "torus:segment=512");
  use(MPI_COMM_WORLD);
  CHECK(conformance::own_calls() == 0);

  const int sizes[] = {2, 2}, periods[] = {0, 1}, remain[] = {1, 0};
  MPI_Comm grid = MPI_COMM_NULL, line = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid);
  use(grid);
  MPI_Cart_sub(grid, remain, &line);
  use(line);
  MPI_Comm_free(&line);
  MPI_Comm_free(&grid);
  conformance::passed("torus_cart", 8 + 4, 8 + 4);
  MPI_Finalize();
  return 0;
}
