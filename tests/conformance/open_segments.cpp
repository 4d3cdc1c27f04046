// UNISONO_BCAST=chain:segment=auto on two nodes of several ranks each (made_up_nodes.c): what the
// model has found at one call of a kind holds for its others, blocking or not. The segments are in
// what UNISONO_LOG=decision says; here the results, and that ranks agree on them: they would hang.
#include <numeric>

#include "check.h"

namespace {

constexpr int kInts = 65536;  // 256 KiB

std::vector<int> numbers(int count, int call) {
  std::vector<int> data(static_cast<std::size_t>(count));
  std::iota(data.begin(), data.end(), call);
  return data;
}

std::vector<int> fresh(MPI_Comm comm, int count, int call) {
  return conformance::rank_in(comm) == 0 ? numbers(count, call)
                                         : std::vector<int>(static_cast<std::size_t>(count), -1);
}

void blocking(MPI_Comm comm, int count, int call) {
  auto data = fresh(comm, count, call);
  MPI_Bcast(data.data(), count, MPI_INT, 0, comm);
  CHECK(data == numbers(count, call));
}

void nonblocking(MPI_Comm comm, int count, int call) {
  auto data = fresh(comm, count, call);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(data.data(), count, MPI_INT, 0, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(data == numbers(count, call));
}

// As its hints have it: nobody forces an allreduce.
void persistent(MPI_Comm comm, int count, int calls) {
  const int p = conformance::size_of(comm);
  std::vector<int> data(static_cast<std::size_t>(count), conformance::rank_in(comm)), sums(data);
  MPI_Info hints = MPI_INFO_NULL;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "unisono_algorithm", "ring");
  MPI_Info_set(hints, "unisono_segment", "auto");
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Allreduce_init(data.data(), sums.data(), count, MPI_INT, MPI_SUM, comm, hints, &request);
  MPI_Info_free(&hints);
  for (int call = 0; call < calls; ++call) {
    std::fill(sums.begin(), sums.end(), -1);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sums == std::vector<int>(sums.size(), p * (p - 1) / 2));
  }
  MPI_Request_free(&request);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int call = 0;
  blocking(MPI_COMM_WORLD, kInts, ++call);
  nonblocking(MPI_COMM_WORLD, kInts, ++call);
  nonblocking(MPI_COMM_WORLD, 4 * kInts, ++call);  // nobody has asked for these
  nonblocking(MPI_COMM_WORLD, 4 * kInts, ++call);
  blocking(MPI_COMM_WORLD, kInts, ++call);  // asks for them
  nonblocking(MPI_COMM_WORLD, 4 * kInts, ++call);
  MPI_Comm odd = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, conformance::rank_in(MPI_COMM_WORLD) % 2, 0, &odd);
  for (int i = 0; i < 3; ++i) blocking(odd, kInts, ++call);
  MPI_Comm_free(&odd);
  persistent(MPI_COMM_WORLD, kInts, 2);
  conformance::passed("open_segments", 7, 12);
  MPI_Finalize();
  return 0;
}
