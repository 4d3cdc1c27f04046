// Handles of operations, datatypes and communicators that are freed, and given again to others:
// what was kept of the old ones must not be used for the new.
#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "check.h"

namespace {

constexpr int kRounds = 40;

// Not commutative: which of them runs can be seen.
void first(void*, void*, int*, MPI_Datatype*);
void last(void* in, void* inout, int* count, MPI_Datatype*) {
  static_cast<void>(in), static_cast<void>(inout), static_cast<void>(count);
}
void first(void* in, void* inout, int* count, MPI_Datatype*) {
  std::memcpy(inout, in, sizeof(int) * static_cast<std::size_t>(*count));
}

/// Keeps count of handles that come again.
template <class Handle>
class Handles {
 public:
  void met(Handle handle) { again_ += seen_.insert(handle).second ? 0 : 1; }
  int again() const { return again_; }

 private:
  std::set<Handle> seen_;
  int again_ = 0;
};

int operations(const std::string& spec, int ranks) {
  conformance::force("allreduce", spec);
  conformance::force("scan", spec == "ring" ? "linear" : spec);
  Handles<MPI_Op> handles;
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Op op;
    MPI_Op_create(round % 2 == 0 ? first : last, round % 3 == 0, &op);
    handles.met(op);
    const std::array<int, 4> mine = {me, me, me, me};
    std::array<int, 4> all = {-1, -1, -1, -1};
    MPI_Allreduce(mine.data(), all.data(), 4, MPI_INT, op, MPI_COMM_WORLD);
    // Of an operation that says it commutes only that it is one of them.
    if (round % 3 != 0)
      CHECK(std::count(all.begin(), all.end(), round % 2 == 0 ? 0 : ranks - 1) == 4);
    MPI_Op_free(&op);
  }
  return handles.again();
}

int datatypes(const std::string& spec) {
  conformance::force("bcast", spec);
  Handles<MPI_Datatype> handles;
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  for (int round = 0; round < kRounds; ++round) {
    const int stride = 1 + round % 3;  // 1: without gaps
    MPI_Datatype type;
    MPI_Type_vector(8, 1, stride, MPI_INT, &type);
    MPI_Type_commit(&type);
    handles.met(type);
    std::array<int, 24> data;
    data.fill(me == 0 ? round : -1);
    MPI_Bcast(data.data(), 1, type, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 24; ++i)
      CHECK(data[static_cast<std::size_t>(i)] ==
            (me == 0 || (i % stride == 0 && i / stride < 8) ? round : -1));
    MPI_Type_free(&type);
  }
  return handles.again();
}

int communicators(const std::string& spec, int ranks) {
  conformance::force("allgather", spec);
  Handles<MPI_Comm> handles;
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Comm comm;  // forwards and backwards; all, and all but the last
    const bool in = round % 3 != 0 || me < ranks - 1;
    MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : 1, round % 2 == 0 ? me : -me, &comm);
    handles.met(comm);
    const int size = conformance::size_of(comm);
    std::vector<int> all(static_cast<std::size_t>(size), -1);
    MPI_Allgather(&me, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
    for (int i = 0; in && i < size; ++i)
      CHECK(all[static_cast<std::size_t>(i)] == (round % 2 == 0 ? i : size - 1 - i));
    MPI_Comm_free(&comm);
  }
  return handles.again();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int ranks = conformance::size_of(MPI_COMM_WORLD);
  const bool shared = std::getenv("CONFORMANCE_ALGORITHM") != nullptr;
  const int ops = operations(shared ? "shm" : "recursive_doubling", ranks);
  const int types = datatypes(shared ? "shm" : "binomial");
  const int comms = communicators(shared ? "shm" : "ring", ranks);
  // Else nothing is shown. Every library gives freed handles again, if not each one at once.
  CHECK(ops > 0 && types > 0 && comms > 0);
  // All, but for communicators of one rank: of two ranks 14 of 120, so that no kind was left out.
  conformance::passed("handles_again", 3 * kRounds - 20, 3 * kRounds);
  MPI_Finalize();
  return 0;
}
