// The program's own operations in nonblocking and persistent reductions: called with the program's
// own datatype handle and whole elements, left operand first, though the program has freed both the
// operation and the datatype, and for each start anew.
#include <array>
#include <cstring>

#include "all_kinds.h"

namespace {

using conformance::complete;
using conformance::rank_in;
using conformance::size_of;

constexpr int kMost = 300;
constexpr std::size_t kExtent = 32, kAt = 8;  // of an element, whose lower bound is -8

MPI_Datatype g_named = MPI_DATATYPE_NULL;  // what the calls have named, freed or not
long long g_applied = 0;

struct Interval {  // of ranks: adjacent ones join, all others spoil the result
  int first, last;
};

void join(void* in, void* inout, int* count, MPI_Datatype* type) {
  CHECK(*type == g_named);
  int size = 0;
  MPI_Aint lb = 0, extent = 0;
  MPI_Type_size(*type, &size);
  MPI_Type_get_extent(*type, &lb, &extent);
  CHECK(size == sizeof(Interval) && lb == -8 && extent == kExtent);
  for (int i = 0; i < *count; ++i) {
    Interval l, r;
    std::memcpy(&l, static_cast<char*>(in) + i * extent, sizeof l);
    std::memcpy(&r, static_cast<char*>(inout) + i * extent, sizeof r);
    const Interval joined =
        l.last + 1 == r.first ? Interval{l.first, r.last} : Interval{-1000, -1000};
    std::memcpy(static_cast<char*>(inout) + i * extent, &joined, sizeof joined);
  }
  g_applied += *count;
}

MPI_Datatype interval() {
  MPI_Datatype two, type;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_create_resized(two, -8, kExtent, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&two);
  return type;
}

/// Reduce, Allreduce, Scan, Exscan of one length in flight at once.
struct Reductions {
  MPI_Comm comm;
  int me, p, count, root;
  std::vector<char> mine;
  std::array<std::vector<char>, 4> into;
  std::vector<MPI_Request> requests = std::vector<MPI_Request>(4, MPI_REQUEST_NULL);

  Reductions(MPI_Comm over, int how_many, int who)
      : comm(over), me(rank_in(over)), p(size_of(over)), count(how_many), root(who % p) {
    mine.resize(static_cast<std::size_t>(kMost) * kExtent);
    const Interval own = {me, me};
    for (std::size_t i = 0; i < kMost; ++i) std::memcpy(&mine[i * kExtent + kAt], &own, sizeof own);
    spoil();
  }
  void spoil() {
    for (auto& one : into) one.assign(mine.size(), 'x');
  }
  char* to(std::size_t which) { return &into[which][kAt]; }
  void make(MPI_Datatype type, MPI_Op op, bool persistent) {
    const char* from = &mine[kAt];
    MPI_Request* r = requests.data();
    if (persistent) {
      MPI_Reduce_init(from, to(0), count, type, op, root, comm, MPI_INFO_NULL, &r[0]);
      MPI_Allreduce_init(from, to(1), count, type, op, comm, MPI_INFO_NULL, &r[1]);
      MPI_Scan_init(from, to(2), count, type, op, comm, MPI_INFO_NULL, &r[2]);
      MPI_Exscan_init(from, to(3), count, type, op, comm, MPI_INFO_NULL, &r[3]);
    } else {
      MPI_Ireduce(from, to(0), count, type, op, root, comm, &r[0]);
      MPI_Iallreduce(from, to(1), count, type, op, comm, &r[1]);
      MPI_Iscan(from, to(2), count, type, op, comm, &r[2]);
      MPI_Iexscan(from, to(3), count, type, op, comm, &r[3]);
    }
  }
  bool has(std::size_t which, int first, int last) const {
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      Interval v;
      std::memcpy(&v, &into[which][i * kExtent + kAt], sizeof v);
      if (v.first != first || v.last != last) return false;
    }
    return true;
  }
  void see() const {
    if (me == root) CHECK(has(0, 0, p - 1));
    CHECK(has(1, 0, p - 1));
    CHECK(has(2, 0, me));
    if (me > 0) CHECK(has(3, 0, me - 1));
  }
};

/// The handles that the program has no more are given to others meanwhile.
void reuse_handles() {
  MPI_Op op;
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) { CHECK(false); }, 1, &op);
  MPI_Datatype type;
  MPI_Type_vector(3, 1, 7, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&type);
  MPI_Op_free(&op);
}

void nonblocking(MPI_Comm comm, int round) {
  MPI_Op op;
  MPI_Op_create(join, 0, &op);
  MPI_Datatype type = g_named = interval();
  Reductions all(comm, 1 + round * 37 % kMost, round);
  all.make(type, op, false);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  CHECK(op == MPI_OP_NULL && type == MPI_DATATYPE_NULL);
  reuse_handles();
  complete(all.requests, round % 8);
  all.see();
}

void persistent(MPI_Comm comm, int round, bool frees_first) {
  MPI_Op op;
  MPI_Op_create(join, 0, &op);
  MPI_Datatype type = g_named = interval();
  Reductions all(comm, 1 + round * 53 % kMost, round);
  all.make(type, op, true);
  const auto free_both = [&] {
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    reuse_handles();
  };
  if (frees_first) free_both();
  for (int start = 0; start < 3; ++start) {
    all.spoil();
    MPI_Startall(4, all.requests.data());
    if (!frees_first && start == 0) free_both();  // in flight
    complete(all.requests, (round + start) % 8, true);
    all.see();
  }
  for (MPI_Request& request : all.requests) MPI_Request_free(&request);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  conformance::force_all();
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (conformance::is_mpich_4_0()) {
    conformance::left_out("operations_in_flight",
                          "MPICH 4.0 runs what is in flight, and fails where an operation or a "
                          "datatype has been freed");
    MPI_Finalize();
    return 0;
  }
  constexpr int kRounds = 16;
  for (int round = 0; round < kRounds; ++round) persistent(comm, round, round % 2 == 0);
  for (int round = 0; round < kRounds; ++round) nonblocking(comm, round);
  CHECK(g_applied > 0 || size_of(comm) == 1);
  MPI_Comm_free(&comm);
  conformance::passed("operations_in_flight", 8 * kRounds, 8 * kRounds);
  MPI_Finalize();
  return 0;
}
