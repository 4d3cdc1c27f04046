// User-defined operations that ask MPI questions while they run, that are made and freed between
// calls, and that must be called with the program's own datatype handle, left operand first.
#include <cstring>

#include "check.h"

namespace {

MPI_Datatype g_type = MPI_DATATYPE_NULL;
long long g_applied = 0;

struct Interval {  // of ranks: adjacent ones join, all others spoil the result
  int first, last;
};

void join(void* in, void* inout, int* count, MPI_Datatype* type) {
  CHECK(*type == g_type);
  int size = 0, flag = 0, version = 0, subversion = 0, name_length = 0;
  MPI_Aint lb = 0, extent = 0;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Type_size(*type, &size);
  MPI_Type_get_extent(*type, &lb, &extent);
  MPI_Type_get_name(*type, name, &name_length);
  MPI_Initialized(&flag);
  MPI_Get_version(&version, &subversion);
  CHECK(size == sizeof(Interval) && lb == -8 && extent == 32 && flag == 1);
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

/// An operation of MPICH's own, which is its collectives' alone to apply.
void extension([[maybe_unused]] int size) {
#ifdef MPIX_EQUAL
  if (conformance::is_mpich_4_0()) return;  // it has none, whatever the header says
  using unisono::Collective;
  for (const auto& name : conformance::algorithms_of(Collective::allreduce, size, false)) {
    conformance::force("allreduce", name);
    const int mine[] = {conformance::rank_in(MPI_COMM_WORLD), 7};
    int equal[] = {-1, -1};
    for (int i = 0; i < 2; ++i)
      MPI_Allreduce(&mine[i], &equal[i], 1, MPI_INT, MPIX_EQUAL, MPI_COMM_WORLD);
    CHECK(equal[0] == (size == 1) && equal[1] == 1);
  }
#endif
}

}  // namespace

int main(int argc, char** argv) {
  using unisono::Collective;
  MPI_Init(&argc, &argv);
  const int me = conformance::rank_in(MPI_COMM_WORLD), size = conformance::size_of(MPI_COMM_WORLD);
  MPI_Datatype two;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_create_resized(two, -8, 32, &g_type);
  MPI_Type_commit(&g_type);
  MPI_Type_set_name(g_type, "interval");

  constexpr int kMost = 300;
  std::vector<char> mine(kMost * 32), result(kMost * 32);
  const Interval own = {me, me};
  for (int i = 0; i < kMost; ++i)
    std::memcpy(&mine[static_cast<std::size_t>(i) * 32 + 8], &own, sizeof own);
  const auto right = [&](int count, int first, int last) {
    for (int i = 0; i < count; ++i) {
      Interval v;
      std::memcpy(&v, &result[static_cast<std::size_t>(i) * 32 + 8], sizeof v);
      if (v.first != first || v.last != last) return false;
    }
    return true;
  };

  unsigned long long calls = 0;  // with a forced algorithm that serves them
  const auto begin = [&] {       // what the call before has left there is right as well
    std::fill(result.begin(), result.end(), 'x');
    ++calls;
  };
  for (const int count : {1, 2, 7, kMost}) {
    MPI_Op op;  // made anew: a handle that comes back must not be taken for the former operation
    MPI_Op_create(join, 0, &op);
    for (const auto& name : conformance::algorithms_of(Collective::reduce, size, false)) {
      conformance::force("reduce", name);
      for (int root = 0; root < size; ++root) {
        begin();
        MPI_Reduce(&mine[8], &result[8], count, g_type, op, root, MPI_COMM_WORLD);
        if (me == root) CHECK(right(count, 0, size - 1));
      }
    }
    for (const auto& name : conformance::algorithms_of(Collective::allreduce, size, false)) {
      conformance::force("allreduce", name);
      begin();
      MPI_Allreduce(&mine[8], &result[8], count, g_type, op, MPI_COMM_WORLD);
      CHECK(right(count, 0, size - 1));
    }
    for (const auto& name : conformance::algorithms_of(Collective::scan, size, false)) {
      conformance::force("scan", name);
      begin();
      MPI_Scan(&mine[8], &result[8], count, g_type, op, MPI_COMM_WORLD);
      CHECK(right(count, 0, me));
    }
    for (const auto& name : conformance::algorithms_of(Collective::exscan, size, false)) {
      conformance::force("exscan", name);
      begin();
      MPI_Exscan(&mine[8], &result[8], count, g_type, op, MPI_COMM_WORLD);
      if (me > 0) CHECK(right(count, 0, me - 1));
    }
    MPI_Op_free(&op);
  }
  extension(size);
  long long applied = 0;
  MPI_Allreduce(&g_applied, &applied, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK(size == 1 || applied > 0);
  MPI_Type_free(&g_type);
  MPI_Type_free(&two);
  conformance::passed("user_operations", calls + 1, calls + 1);  // and the last one
  MPI_Finalize();
  return 0;
}
