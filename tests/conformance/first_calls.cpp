// What the first calls on a communicator cost: nothing is made for it until it is known to be worth
// it. Counted are the calls by which a team or a private duplicate is made, as Unisono makes them.
//
//   mpiexec -n P first_calls
#include "check.h"
#include "next_function.h"

namespace {

int g_made = 0;  // calls by which Unisono makes something for a communicator

template <class Function>
Function* counted(const char* name) {
  ++g_made;
  return next_function<Function>(name);
}

}  // namespace

// In the program they come before the MPI library's.
#define COUNTED extern "C" __attribute__((visibility("default")))
COUNTED int PMPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm) {
  return counted<decltype(PMPI_Allreduce)>("PMPI_Allreduce")(in, out, count, type, op, comm);
}
COUNTED int PMPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return counted<decltype(PMPI_Bcast)>("PMPI_Bcast")(data, count, type, root, comm);
}
COUNTED int PMPI_Allgather(const void* in, int sent, MPI_Datatype sent_type, void* out,
                           int received, MPI_Datatype type, MPI_Comm comm) {
  return counted<decltype(PMPI_Allgather)>("PMPI_Allgather")(in, sent, sent_type, out, received,
                                                             type, comm);
}
COUNTED int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* created) {
  return counted<decltype(PMPI_Comm_create)>("PMPI_Comm_create")(comm, group, created);
}

namespace {

/// How many calls on `comm`, of so many numbers, until one of them runs in Unisono; the limit if
/// none does. Rank by rank the same, or they would wait for each other for ever.
int calls_until_own(MPI_Comm comm, int count, int limit) {
  const int size = conformance::size_of(comm);
  std::vector<long long> one(static_cast<std::size_t>(count), 1), sum(one.size());
  for (int calls = 1; calls <= limit; ++calls) {
    const unsigned long long before = conformance::own_calls();
    MPI_Allreduce(one.data(), sum.data(), count, MPI_LONG_LONG, MPI_SUM, comm);
    CHECK(sum.front() == size && sum.back() == size);
    if (conformance::own_calls() != before) return calls;
  }
  return limit;
}

int on_a_new_communicator(int count, int limit) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
  const int calls = calls_until_own(comm, count, limit);
  MPI_Comm_free(&comm);
  return calls;
}

void split_reduce_free() {
  const int before = g_made;
  for (int round = 0; round < 200; ++round) CHECK(on_a_new_communicator(1, 1) == 1);
  CHECK(g_made == before);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  constexpr int kShort = 1, kLong = 64 << 10;
  split_reduce_free();
  const bool acts = calls_until_own(MPI_COMM_WORLD, kShort, 2) == 1;  // by the table of defaults
  if (acts) {
    const int before = g_made;
    CHECK(on_a_new_communicator(kShort, 1000) == 32);
    CHECK(g_made > before);
    CHECK(on_a_new_communicator(kLong, 1000) == 1);
  }
  conformance::force("allreduce", "recursive_doubling");
  const int before = g_made;
  CHECK(on_a_new_communicator(kShort, 1000) == 1);
  CHECK(g_made > before);
  conformance::force("allreduce", "default");
  split_reduce_free();
  if (conformance::rank_in(MPI_COMM_WORLD) == 0 && !acts)
    std::printf("first_calls: the defaults leave a short Allreduce here to the MPI library\n");
  conformance::passed("first_calls", acts ? 4 : 1, conformance::kAnyNumber);
  MPI_Finalize();
  return 0;
}
