// Ranks that describe the same data by different datatypes, with every algorithm: a decision made
// from counts or datatypes instead of the signature is a hang.
#include <numeric>

#include "check.h"

namespace {

constexpr int kInts = 24;  // of one rank; what it is called depends on the rank

struct Named {
  MPI_Datatype type;
  int count;  // for kInts ints
  bool owned;
};

Named named(int way) {
  MPI_Datatype t = MPI_INT;
  switch (way % 4) {
    case 0: return {MPI_INT, kInts, false};
    case 1: MPI_Type_contiguous(2, MPI_INT, &t); break;
    case 2: MPI_Type_contiguous(kInts, MPI_INT, &t); break;
    default: {
      const int lengths[2] = {1, 5}, at[2] = {0, 1};
      MPI_Type_indexed(2, lengths, at, MPI_INT, &t);
      break;
    }
  }
  int size = 0;
  MPI_Type_commit(&t);
  MPI_Type_size(t, &size);
  return {t, kInts * static_cast<int>(sizeof(int)) / size, true};
}

}  // namespace

int main(int argc, char** argv) {
  using unisono::Collective;
  MPI_Init(&argc, &argv);
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  const int size = conformance::size_of(MPI_COMM_WORLD);
  const auto all = static_cast<std::size_t>(size) * kInts;
  Named in = named(me), out = named(me + 1);
  std::vector<int> mine(kInts), whole(all), expected(all);
  std::iota(mine.begin(), mine.end(), me * kInts);
  std::iota(expected.begin(), expected.end(), 0);
  unsigned long long calls = 0;  // with a forced algorithm that serves them

  for (const auto& name : conformance::algorithms_of(Collective::bcast, size, true)) {
    conformance::force("bcast", name);
    ++calls;
    std::vector<int> data = me == size - 1 ? mine : std::vector<int>(kInts, -1);
    MPI_Bcast(data.data(), in.count, in.type, size - 1, MPI_COMM_WORLD);
    CHECK(data.front() == (size - 1) * kInts && data.back() == size * kInts - 1);
  }
  for (const auto& name : conformance::algorithms_of(Collective::gather, size, true)) {
    conformance::force("gather", name);
    ++calls;
    std::fill(whole.begin(), whole.end(), -1);
    MPI_Gather(mine.data(), in.count, in.type, whole.data(), out.count, out.type, 0,
               MPI_COMM_WORLD);
    if (me == 0) CHECK(whole == expected);
  }
  for (const auto& name : conformance::algorithms_of(Collective::scatter, size, true)) {
    conformance::force("scatter", name);
    ++calls;
    std::vector<int> part(kInts, -1);
    MPI_Scatter(expected.data(), in.count, in.type, part.data(), out.count, out.type, 0,
                MPI_COMM_WORLD);
    CHECK(part == mine);
  }
  for (const auto& name : conformance::algorithms_of(Collective::allgather, size, true)) {
    conformance::force("allgather", name);
    ++calls;
    std::fill(whole.begin(), whole.end(), -1);
    MPI_Allgather(mine.data(), in.count, in.type, whole.data(), out.count, out.type,
                  MPI_COMM_WORLD);
    CHECK(whole == expected);
  }
  for (const auto& name : conformance::algorithms_of(Collective::alltoall, size, true)) {
    conformance::force("alltoall", name);
    ++calls;
    std::vector<int> send(all);
    for (std::size_t i = 0; i < all; ++i) send[i] = static_cast<int>(i) / kInts * 1000 + me;
    MPI_Alltoall(send.data(), in.count, in.type, whole.data(), out.count, out.type, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < all; ++i)
      CHECK(whole[i] == me * 1000 + static_cast<int>(i) / kInts);
  }
  for (Named* n : {&in, &out})
    if (n->owned) MPI_Type_free(&n->type);
  conformance::passed("signatures", calls, calls);
  MPI_Finalize();
  return 0;
}
