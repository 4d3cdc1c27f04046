// Wrong buffers on every rank, and on one: the class that the MPI library gives, and no crash, also
// for kinds of calls that Unisono knows.
//
//   mpiexec -n P refused_buffers
#include <array>

#include "check.h"

namespace {

using conformance::class_of;

/// No more than it was told is written, though the root thinks of twice as many: the call is wrong,
/// and what it returns is not said.
void longer_from_root(MPI_Comm comm) {
  constexpr int kCount = 1 << 16;
  const bool root = conformance::rank_in(comm) == 0;
  std::vector<int> data(2 * kCount, root ? 1 : 2);
  // Natively the ranks may wait for ever; of more ranks than two, some do here.
  if (!conformance::has_unisono() || conformance::size_of(comm) != 2) return;
  MPI_Bcast(data.data(), root ? 2 * kCount : kCount, MPI_INT, 0, comm);
  for (int i = kCount; !root && i < 2 * kCount; ++i) CHECK(data[static_cast<std::size_t>(i)] == 2);
}

/// Each rank sends its own block of what it receives.
[[maybe_unused]] void own_block(MPI_Comm comm) {
  std::vector<int> all(64);
  int* const own = all.data() + conformance::rank_in(comm);
  const std::vector<int> counts(8, 1), displs{0, 1, 2, 3, 4, 5, 6, 7};
  REFUSED(Allgather(own, 1, MPI_INT, all.data(), 1, MPI_INT, comm));
  REFUSED(Allgatherv(own, 1, MPI_INT, all.data(), counts.data(), displs.data(), MPI_INT, comm));
}

/// One buffer, and one array of counts, for both sides.
[[maybe_unused]] void one_buffer_of_many_counts(MPI_Comm comm) {
  std::vector<int> all(64);
  const std::vector<int> counts(8, 1), displs{0, 1, 2, 3, 4, 5, 6, 7}, at(8, 0);
  const std::vector<MPI_Datatype> types(8, MPI_INT);
  int* const data = all.data();
  const int *const n = counts.data(), *const d = displs.data(), *const b = at.data();
  REFUSED(Alltoallv(data, n, d, MPI_INT, data, n, d, MPI_INT, comm));
  REFUSED(Alltoallw(data, n, b, types.data(), data, n, b, types.data(), comm));
}

/// Two adjacent elements of one, and one with a gap; then they are committed.
void not_committed(MPI_Comm comm) {
  std::vector<int> data(64, 1), all(512);
  std::array<MPI_Datatype, 2> types{MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
  MPI_Type_contiguous(2, MPI_INT, types.data());
  MPI_Type_vector(2, 1, 2, MPI_INT, &types[1]);
  for (MPI_Datatype& type : types) {
    REFUSED(Bcast(data.data(), 1, type, 0, comm));
    REFUSED(Alltoall(data.data(), 1, type, all.data(), 1, type, comm));
    MPI_Type_commit(&type);
    std::vector<int> seen(4, conformance::rank_in(comm));
    CHECK(MPI_Bcast(seen.data(), 1, type, 0, comm) == MPI_SUCCESS);
    CHECK(seen[0] == 0);
    CHECK(MPI_Alltoall(data.data(), 1, type, all.data(), 1, type, comm) == MPI_SUCCESS);
    CHECK(all[0] == 1);
    MPI_Type_free(&type);
  }
}

/// Displacements among neighbours may be addresses: rank 0 sends from MPI_BOTTOM, which is null.
void from_bottom(MPI_Comm comm) {
  const int size = conformance::size_of(comm), me = conformance::rank_in(comm), periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(comm, 1, &size, &periodic, 0, &ring);
  const std::array sent = {me, me + 100}, counts = {1, 1};
  const std::array types = {MPI_INT, MPI_INT};
  std::array got = {-1, -1};
  std::array<MPI_Aint, 2> from{0, sizeof(int)}, into{0, sizeof(int)};
  if (me == 0)
    for (std::size_t i = 0; i < 2; ++i) MPI_Get_address(&sent[i], &from[i]);
  const void* const buffer = me == 0 ? MPI_BOTTOM : sent.data();
  CHECK(MPI_Neighbor_alltoallw(buffer, counts.data(), from.data(), types.data(), got.data(),
                               counts.data(), into.data(), types.data(), ring) == MPI_SUCCESS);
  const int before = (me + size - 1) % size, behind = (me + 1) % size;
  // Two ranks are each other's neighbours twice, and which block is which is not of interest here.
  CHECK(got[0] % 100 == before && got[1] % 100 == behind);
  MPI_Comm_free(&ring);
}

void right_ones(MPI_Comm comm) {
  const int me = conformance::rank_in(comm), size = conformance::size_of(comm);
  std::vector<int> a(64, 1), b(64);
  for (int i = 0; i < 10; ++i) {
    a[0] = me == 0 ? 1 : -1;
    CHECK(MPI_Bcast(a.data(), 1, MPI_INT, 0, comm) == MPI_SUCCESS);
    CHECK(a[0] == 1);
    b.assign(b.size(), -1);
    CHECK(MPI_Allreduce(a.data(), b.data(), 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK(b[0] == size);
    b[0] = -1;
    CHECK(MPI_Scan(a.data(), b.data(), 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK(b[0] == me + 1);
    b[0] = -1;
    CHECK(MPI_Alltoall(a.data(), 1, MPI_INT, b.data(), 1, MPI_INT, comm) == MPI_SUCCESS);
    CHECK(b[0] == 1 && b[static_cast<std::size_t>(size - 1)] == 1);
  }
  CHECK(MPI_Bcast(nullptr, 0, MPI_INT, 0, comm) == MPI_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (const char* name : {"allreduce", "scan", "alltoall", "alltoallv", "alltoallw"})
    conformance::force(name, "shm");
  conformance::force("bcast", "shm_direct");  // others write into a rank's buffer
  std::vector<int> a(64, 1), b(64);
  right_ones(comm);
#ifdef MPICH_NAME
  // Open MPI 5.0.11 looks at few of them, and dies of the others.
  REFUSED(Bcast(nullptr, 1, MPI_INT, 0, comm));
  REFUSED(Allreduce(nullptr, b.data(), 1, MPI_INT, MPI_SUM, comm));
  REFUSED(Allreduce(a.data(), nullptr, 1, MPI_INT, MPI_SUM, comm));
  REFUSED(Alltoall(nullptr, 1, MPI_INT, b.data(), 1, MPI_INT, comm));
  REFUSED(Allreduce(a.data(), a.data(), 1, MPI_INT, MPI_SUM, comm));
  REFUSED(Scan(a.data(), a.data(), 1, MPI_INT, MPI_SUM, comm));
  REFUSED(Alltoall(a.data(), 1, MPI_INT, a.data(), 1, MPI_INT, comm));
  own_block(comm);
  one_buffer_of_many_counts(comm);
#else
  REFUSED(Allreduce(a.data(), a.data(), 2, MPI_INT, MPI_SUM, comm));
#endif
  right_ones(comm);
  not_committed(comm);
  // Elements elsewhere: a null address is right.
  int here = conformance::rank_in(comm) == 0 ? 5 : 0;
  MPI_Aint address = 0;
  MPI_Get_address(&here, &address);
  MPI_Datatype there = MPI_DATATYPE_NULL;
  const int one = 1;
  MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &there);
  MPI_Type_commit(&there);
  CHECK(MPI_Bcast(MPI_BOTTOM, 1, there, 0, comm) == MPI_SUCCESS);
  CHECK(here == 5);
  MPI_Type_free(&there);
  conformance::force("neighbor_alltoallw", "shm");
  from_bottom(comm);
  longer_from_root(comm);
  conformance::passed("refused_buffers", 81, conformance::kAnyNumber);
  std::fflush(stdout);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
