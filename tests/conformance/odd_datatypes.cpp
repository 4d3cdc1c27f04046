// Datatypes made in unusual ways, as legal as any other: by large-count constructors, as Fortran's
// parametrised types, and elements of which the datatype names only a part.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

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

/// Pairs before a page that nobody may touch: behind the index of the last there need not be
/// memory.
class AtTheEnd {
 public:
  explicit AtTheEnd(std::size_t pairs) {
    const std::size_t bytes = pairs * kExtent - (kExtent - kPair);
    page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    mapped_ = (bytes + page_ - 1) / page_ * page_ + page_;
    memory_ = static_cast<std::byte*>(
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    CHECK(memory_ != MAP_FAILED);
    first_ = memory_ + mapped_ - page_ - bytes;
    CHECK(mprotect(memory_ + mapped_ - page_, page_, PROT_NONE) == 0);
  }
  ~AtTheEnd() { munmap(memory_, mapped_); }
  AtTheEnd(const AtTheEnd&) = delete;
  AtTheEnd& operator=(const AtTheEnd&) = delete;

  void* get() { return first_; }
  void set(std::size_t i, double value, int index) {
    std::memcpy(first_ + i * kExtent, &value, sizeof value);
    std::memcpy(first_ + i * kExtent + sizeof value, &index, sizeof index);
  }
  bool is(std::size_t i, double value, int index) const {
    return std::memcmp(first_ + i * kExtent, &value, sizeof value) == 0 &&
           std::memcmp(first_ + i * kExtent + sizeof value, &index, sizeof index) == 0;
  }

 private:
  static constexpr std::size_t kPair = sizeof(double) + sizeof(int), kExtent = 2 * sizeof(double);
  std::size_t page_ = 0, mapped_ = 0;
  std::byte *memory_ = nullptr, *first_ = nullptr;
};

void pairs_at_the_end() {
  const int rank = conformance::rank_in(MPI_COMM_WORLD), p = conformance::size_of(MPI_COMM_WORLD);
  for (const char* collective : {"allreduce", "scan", "reduce_scatter_block", "reduce_scatter"})
    conformance::force(collective, "shm");
  for (const int n : {1, 7, 1000}) {
    const auto count = static_cast<std::size_t>(n), all = count * static_cast<std::size_t>(p);
    AtTheEnd input(all), vector(count), result(count);
    for (std::size_t i = 0; i < all; ++i) input.set(i, rank + double(i), rank);
    for (std::size_t i = 0; i < count; ++i) vector.set(i, rank, rank);
    const std::vector<int> counts(static_cast<std::size_t>(p), n);
    const auto holds = [&](double first, double step, int index) {
      for (std::size_t i = 0; i < count; ++i)
        if (!result.is(i, first + step * double(i), index)) return false;
      return true;
    };
    g_calls += 4;
    MPI_Allreduce(vector.get(), result.get(), n, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    CHECK(holds(p - 1, 0, p - 1));
    MPI_Scan(vector.get(), result.get(), n, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    CHECK(holds(rank, 0, rank));
    const double block = double(rank) * n;
    MPI_Reduce_scatter_block(input.get(), result.get(), n, MPI_DOUBLE_INT, MPI_MAXLOC,
                             MPI_COMM_WORLD);
    CHECK(holds(p - 1 + block, 1, p - 1));
    MPI_Reduce_scatter(input.get(), result.get(), counts.data(), MPI_DOUBLE_INT, MPI_MAXLOC,
                       MPI_COMM_WORLD);
    CHECK(holds(p - 1 + block, 1, p - 1));
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  conformance::force_all();
  records();
  large_counts();
  pairs_at_the_end();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // MPI libraries without Fortran
  fortran();
  conformance::passed("odd_datatypes", g_calls, g_calls);
  MPI_Finalize();
}
