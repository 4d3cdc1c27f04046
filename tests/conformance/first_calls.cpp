// What the first calls on a communicator cost: nothing is made for it until it is known to be worth
// it. Counted are the calls by which a team or a private duplicate is made, as Unisono makes them,
// and the attributes it sets.
//
//   mpiexec -n P first_calls
#include <dlfcn.h>

#include <array>

#include "check.h"

namespace {

int g_made = 0;  // calls by which Unisono makes something for a communicator
int g_attributes = 0;

template <class Function>
Function* counted(const char* name) {
  ++g_made;
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
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
COUNTED int PMPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
  ++g_attributes;
  const auto next = dlsym(RTLD_NEXT, "PMPI_Comm_set_attr");
  return reinterpret_cast<decltype(&PMPI_Comm_set_attr)>(next)(comm, key, value);
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

using Split = decltype(MPI_Comm_split);

int on_a_new_communicator(int count, int limit, Split* split = MPI_Comm_split) {
  MPI_Comm comm = MPI_COMM_NULL;
  split(MPI_COMM_WORLD, 0, 0, &comm);
  const int calls = calls_until_own(comm, count, limit);
  MPI_Comm_free(&comm);
  return calls;
}

void split_reduce_free() {
  const int before = g_made;
  for (int round = 0; round < 200; ++round) CHECK(on_a_new_communicator(1, 1) == 1);
  CHECK(g_made == before);
}

/// A communicator that is freed after its only call has no attribute where that takes long; one
/// that is called twice has.
void attributes() {
#ifdef OPEN_MPI
  const int before = g_attributes;
  split_reduce_free();
  CHECK(g_attributes == before);
  for (int round = 0; round < 10; ++round) on_a_new_communicator(1, 2);
  CHECK(g_attributes == before + 10);
#endif
}

/// Serves one call, and is freed so that Unisono sees it on some ranks only: its handle is given
/// to the next.
void free_unseen(Split* split) {
  MPI_Comm comm = MPI_COMM_NULL;
  split(MPI_COMM_WORLD, 0, 0, &comm);
  calls_until_own(comm, 1, 1);
  (conformance::rank_in(MPI_COMM_WORLD) == 0 ? PMPI_Comm_free : MPI_Comm_free)(&comm);
}

/// All ranks count alike, whatever each of them sees of a communicator's beginning and end: else
/// some would make a team at another call than the others.
void count_alike() {
  const bool first = conformance::rank_in(MPI_COMM_WORLD) == 0;
  constexpr std::array<Split*, 2> kSplits = {MPI_Comm_split, PMPI_Comm_split};
  for (const std::size_t before : {0, 1}) {
    for (const std::size_t here : {0, 1}) {
      for (const std::size_t there : {0, 1}) {
        free_unseen(kSplits[before]);
        CHECK(on_a_new_communicator(1, 1000, kSplits[first ? here : there]) == 32);
      }
    }
  }
  // One rank is in the middle of another communicator's first calls.
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, first ? 0 : MPI_UNDEFINED, 0, &own);
  if (first) calls_until_own(own, 1, 1);
  CHECK(on_a_new_communicator(1, 1000) == 32);
  if (first) MPI_Comm_free(&own);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  constexpr int kShort = 1, kLong = 64 << 10;
  split_reduce_free();
  attributes();
  const bool acts = calls_until_own(MPI_COMM_WORLD, kShort, 2) == 1;  // by the table of defaults
  if (acts) {
    const int before = g_made;
    CHECK(on_a_new_communicator(kShort, 1000) == 32);
    CHECK(g_made > before);
    CHECK(on_a_new_communicator(kLong, 1000) == 1);
    count_alike();
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
