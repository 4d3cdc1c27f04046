// What the ranks of a program may have each for itself, and what must not decide: the direction in
// which they round, whether they log, and how their data lie in memory.
//
//   mpiexec -n P ranks_differ
#include <algorithm>
#include <cfenv>
#include <cstdlib>
#include <cstring>

#include "check.h"

namespace {

constexpr int kLongest = 1 << 18;
constexpr int kUnpacked = 20'000;

/// Before MPI_Init, from what the launchers say.
bool is_odd_rank() {
  for (const char* name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK"})
    if (const char* rank = std::getenv(name)) return std::atoi(rank) % 2 == 1;
  return false;
}

// The first calls on a communicator cannot be run by Unisono, the others can: all ranks must count
// them alike, or some make a team at one call and some at the next.
void first_calls_that_are_left() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(
      [](void* from, void* into, int* count, MPI_Datatype*) {
        for (int i = 0; i < 3 * *count; ++i)
          static_cast<int*>(into)[i] += static_cast<int*>(from)[i];
      },
      1, &op);
  MPI_Datatype three = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, MPI_INT, &three);
  MPI_Type_commit(&three);
  const int size = conformance::size_of(comm);
  for (int i = 0; i < 3; ++i) {
    const int ones[3] = {1, 1, 1};
    int sums[3] = {};
    MPI_Allreduce(ones, sums, 1, three, op, comm);
    CHECK(sums[0] == size && sums[2] == size);
  }
  for (int i = 0; i < 60; ++i) {
    int sum = -1;
    MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * i);
  }
  MPI_Type_free(&three);
  MPI_Op_free(&op);
  MPI_Comm_free(&comm);
}

bool is_all(const std::vector<char>& data, int begin, int count, int value) {
  for (int i = begin; i < begin + count; ++i)
    if (data[static_cast<std::size_t>(i)] != value) return false;
  return true;
}

// Sizes at which a border between two protocols may lie, and their neighbours.
void sizes_at_borders() {
  const int rank = conformance::rank_in(MPI_COMM_WORLD),
            size = conformance::size_of(MPI_COMM_WORLD);
  std::vector<char> own(kLongest + 1), all(static_cast<std::size_t>(size) * (kLongest + 1));
  for (int power = 1 << 8; power <= kLongest; power *= 2)
    for (const double factor : {1.0, 0.70710678118654752})
      for (int count = static_cast<int>(power * factor) - 1; count <= power * factor + 1; ++count) {
        std::memset(own.data(), rank == 0 ? 7 : 0, own.size());
        MPI_Bcast(own.data(), count, MPI_CHAR, 0, MPI_COMM_WORLD);
        CHECK(is_all(own, 0, count, 7));
        std::memset(own.data(), rank + 1, own.size());
        MPI_Allgather(own.data(), count, MPI_CHAR, all.data(), count, MPI_CHAR, MPI_COMM_WORLD);
        for (int other = 0; other < size; ++other)
          CHECK(is_all(all, other * count, count, other + 1));
        MPI_Allreduce(own.data(), all.data(), count, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
        CHECK(is_all(all, 0, count, size * (size + 1) / 2));
      }
}

// Every other rank has to unpack, so that its calls go the long way where those of the others do
// not even look whether their time is asked for: all must come to that at the same call.
void every_other_rank_unpacks() {
  constexpr int kNumbers = 64;
  MPI_Datatype spread = MPI_DATATYPE_NULL;
  MPI_Type_vector(kNumbers, 1, 2, MPI_INT, &spread);
  MPI_Type_commit(&spread);
  const bool unpacks = conformance::rank_in(MPI_COMM_WORLD) % 2 == 1;
  for (int i = 0; i < kUnpacked; ++i) {
    int numbers[2 * kNumbers] = {};
    if (!unpacks) std::fill_n(numbers, kNumbers, i);
    const MPI_Datatype type = unpacks ? spread : MPI_INT;
    MPI_Bcast(numbers, unpacks ? 1 : kNumbers, type, 0, MPI_COMM_WORLD);
    CHECK(numbers[0] == i && numbers[unpacks ? 2 * kNumbers - 2 : kNumbers - 1] == i);
  }
  MPI_Type_free(&spread);
}

}  // namespace

int main(int argc, char** argv) {
  if (is_odd_rank()) setenv("UNISONO_LOG", "decision", 1);
  MPI_Init(&argc, &argv);
  std::fesetround(is_odd_rank() ? FE_UPWARD : FE_DOWNWARD);
  first_calls_that_are_left();
  every_other_rank_unpacks();
  // Where the library's own is faster by default too.
  for (const char* collective : {"bcast", "allgather", "allreduce"})
    conformance::force(collective, "shm");
  sizes_at_borders();
  // 11 powers, two places, three sizes, three collectives: 198, and some of the 60. Of those that
  // are unpacked as many as it takes to find out whether native is faster.
  conformance::passed("ranks_differ", 198, 258 + kUnpacked);
  MPI_Finalize();
}
