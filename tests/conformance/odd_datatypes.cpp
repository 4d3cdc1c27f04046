// Datatypes made in unusual ways, as legal as any other: by large-count constructors, as Fortran's
// parametrised types, and elements of which the datatype names only a part.
#include "check.h"

namespace {

unsigned long long g_calls = 0;  // with a forced algorithm that serves them

struct Record {
  double key;
  double rest[8];
};

/// Writes whole records, although the datatype names the key only.
void larger(void* in, void* inout, int* n, MPI_Datatype*) {
  const auto* a = static_cast<const Record*>(in);
  auto* b = static_cast<Record*>(inout);
  for (int i = 0; i < *n; ++i)
    if (a[i].key > b[i].key) b[i] = a[i];
}

void records() {
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_DOUBLE, 0, sizeof(Record), &type);
  MPI_Type_commit(&type);
  MPI_Op op;
  MPI_Op_create(larger, 1, &op);
  const int rank = conformance::rank_in(MPI_COMM_WORLD);
  // MPI libraries' own reductions get this wrong (Open MPI 5.0.11): no comparison with them.
  for (const std::string& name : conformance::algorithms_of(
           unisono::Collective::allreduce, conformance::size_of(MPI_COMM_WORLD), true)) {
    conformance::force("allreduce", name);
    for (int n = 1; n <= 64; ++n) {
      const auto count = static_cast<std::size_t>(n);
      std::vector<Record> mine(count), best(count + 1);
      for (std::size_t i = 0; i < count; ++i) mine[i].key = rank == 0 ? double(i) + 2 : -1;
      best[count].key = 99;
      ++g_calls;
      MPI_Allreduce(mine.data(), best.data(), n, type, op, MPI_COMM_WORLD);
      for (std::size_t i = 0; i < count; ++i) CHECK(best[i].key == double(i) + 2);
      CHECK(best[count].key == 99);
    }
  }
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

void broadcast(MPI_Datatype type, const std::vector<double>& values) {
  std::vector<double> buffer(values.size(), -1);
  if (conformance::rank_in(MPI_COMM_WORLD) == 0) buffer = values;
  ++g_calls;
  MPI_Bcast(buffer.data(), 1, type, 0, MPI_COMM_WORLD);
  CHECK(buffer == values);
}

void fortran() {
  MPI_Datatype real, three;
  if (MPI_Type_create_f90_real(15, 307, &real) != MPI_SUCCESS) return;
  broadcast(real, {5});
  for (int round = 0; round < 3; ++round) {  // a type that lives on must not be freed on the way
    MPI_Type_contiguous(3, real, &three);
    MPI_Type_commit(&three);
    broadcast(three, {5, 6, 7});
    MPI_Type_free(&three);
  }
}

void large_counts() {
#if MPI_VERSION >= 4
  MPI_Datatype type, outer;
  MPI_Type_contiguous_c(2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  broadcast(type, {1, 2});
  MPI_Type_contiguous(2, type, &outer);
  MPI_Type_commit(&outer);
  broadcast(outer, {1, 2, 3, 4});
  MPI_Type_free(&outer);
  MPI_Type_free(&type);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  conformance::force_all();
  records();
  large_counts();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // MPI libraries without Fortran
  fortran();
  conformance::passed("odd_datatypes", g_calls, g_calls);
  MPI_Finalize();
}
