// Collectives in the delete function of an attribute, on the communicator that is freed. Rank 0 has
// set it before the first collective, the others after the last, so that on rank 0 it is called
// before or after Unisono's own, and on the others the other way round. All of them are native.
#include <iterator>
#include <numeric>

#include "check.h"
#include "fortran_library.h"

namespace {

constexpr int kInts = 1000, kCallsInDelete = 3;

void sum(MPI_Comm comm, int call) {
  const int me = conformance::rank_in(comm), p = conformance::size_of(comm);
  std::vector<int> data(kInts), sums(kInts, -1);
  std::iota(data.begin(), data.end(), me + call);
  MPI_Allreduce(data.data(), sums.data(), kInts, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < kInts; ++i)
    CHECK(sums[static_cast<std::size_t>(i)] == p * (p - 1) / 2 + p * (call + i));
}

int g_deleted = 0;

void sum_natively(MPI_Comm comm) {
  const unsigned long long own = conformance::own_calls();
  for (int call = 0; call < kCallsInDelete; ++call) sum(comm, call);
  MPI_Barrier(comm);
  CHECK(conformance::own_calls() == own);
}

int sum_at_the_end(MPI_Comm comm, int, void*, void*) {
  sum_natively(comm);
  ++g_deleted;
  return MPI_SUCCESS;
}

MPI_Comm g_inner = MPI_COMM_NULL;

int free_the_inner(MPI_Comm, int, void*, void*) { return MPI_Comm_free(&g_inner); }

/// Both are being freed.
int sum_on_both(MPI_Comm inner, int, void* outer, void*) {
  sum_natively(*static_cast<MPI_Comm*>(outer));
  return sum_at_the_end(inner, 0, nullptr, nullptr);
}

using Free = int(MPI_Comm*);
struct Way {
  Free *free, *disconnect;
};

/// As Fortran programs call it.
template <FortranFree* kFree>
int in_fortran(MPI_Comm* comm) {
  MPI_Fint handle = MPI_Comm_c2f(*comm), error = MPI_ERR_OTHER;
  kFree(&handle, &error);
  *comm = MPI_Comm_f2c(handle);
  return error;
}

constexpr Way kWays[] = {
    {MPI_Comm_free, MPI_Comm_disconnect},
    {PMPI_Comm_free, PMPI_Comm_disconnect},  // as a tool that stands before Unisono
    {in_fortran<mpi_comm_free_f08_>, in_fortran<mpi_comm_disconnect_f08_>},
#ifdef OPEN_MPI
    {in_fortran<mpi_comm_free>, in_fortran<mpi_comm_disconnect>},
    {in_fortran<mpi_comm_free_>, in_fortran<mpi_comm_disconnect_>},
    {in_fortran<mpi_comm_free__>, in_fortran<mpi_comm_disconnect__>},
    {in_fortran<MPI_COMM_FREE>, in_fortran<MPI_COMM_DISCONNECT>},
#endif
};

/// Around the number of calls from which on a communicator has memory of the node.
void free_some(const Way& way, int key) {
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  int freed = g_deleted;
  for (const int calls : {0, 1, 8, 22, 29, 30, 31, 32, 40, 300})
    for (const bool is_forced : {false, true}) {
      conformance::force("allreduce", is_forced ? "shm" : "default");
      MPI_Comm comm = MPI_COMM_NULL;
      MPI_Comm_split(MPI_COMM_WORLD, 0, me, &comm);
      if (me == 0) MPI_Comm_set_attr(comm, key, nullptr);
      for (int call = 0; call < calls; ++call) sum(comm, call);
      if (me != 0) MPI_Comm_set_attr(comm, key, nullptr);
      CHECK((calls % 2 != 0 ? way.disconnect : way.free)(&comm) == MPI_SUCCESS);
      CHECK(comm == MPI_COMM_NULL && g_deleted == ++freed);
    }
}

/// A communicator is freed in the delete function of another one.
void free_one_in_the_other() {
  const int me = conformance::rank_in(MPI_COMM_WORLD), freed = g_deleted;
  MPI_Comm outer = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, me, &outer);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &g_inner);
  MPI_Comm handle = outer;  // MPI_Comm_free may change the other one at any time
  int of_outer = MPI_KEYVAL_INVALID, of_inner = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_the_inner, &of_outer, nullptr);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, sum_on_both, &of_inner, nullptr);
  if (me == 0) MPI_Comm_set_attr(outer, of_outer, nullptr);
  for (const MPI_Comm comm : {outer, g_inner}) sum(comm, 1);
  if (me != 0) MPI_Comm_set_attr(outer, of_outer, nullptr);
  MPI_Comm_set_attr(g_inner, of_inner, &handle);
  MPI_Comm_free(&outer);
  CHECK(outer == MPI_COMM_NULL && g_inner == MPI_COMM_NULL && g_deleted == freed + 1);
  MPI_Comm_free_keyval(&of_outer);
  MPI_Comm_free_keyval(&of_inner);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, sum_at_the_end, &key, nullptr);
  for (const Way& way : kWays) free_some(way, key);
  MPI_Comm_free_keyval(&key);
  free_one_in_the_other();
  constexpr unsigned long long kAll = std::size(kWays);
  conformance::passed("delete_functions", kAll * 493, kAll * 1000);
  MPI_Finalize();
  return 0;
}
