// Every blocking collective, with commutative and non-commutative operations, whatever UNISONO_*
// says: the results are checked, and rank 0 prints "own N native M". environment_test.py sets the
// variables and looks at what is said about them.
#include "check.h"

namespace {

void keep_right(void*, void*, int*, MPI_Datatype*) {}  // right operand wins: not commutative

void all_collectives(MPI_Comm comm, int count) {
  const int me = conformance::rank_in(comm), p = conformance::size_of(comm);
  const auto n = static_cast<std::size_t>(count), all = n * static_cast<std::size_t>(p);
  const int last = p - 1;
  std::vector<int> mine(n, me), one(n), whole(all), send(all);
  std::vector<int> counts(static_cast<std::size_t>(p), count), displs;
  for (int i = 0; i < p; ++i) displs.push_back(i * count);
  const std::vector<int> byte_displs = [&] {
    std::vector<int> d;
    for (const int i : displs) d.push_back(i * static_cast<int>(sizeof(int)));
    return d;
  }();
  const std::vector<MPI_Datatype> types(static_cast<std::size_t>(p), MPI_INT);
  for (std::size_t i = 0; i < all; ++i) send[i] = me * p + static_cast<int>(i / n);
  const auto ranks_in_order = [&] {
    for (std::size_t i = 0; i < all; ++i)
      if (whole[i] != static_cast<int>(i / n)) return false;
    return true;
  };
  const auto transposed = [&] {
    for (std::size_t i = 0; i < all; ++i)
      if (whole[i] != static_cast<int>(i / n) * p + me) return false;
    return true;
  };
  const auto clear = [&] {
    std::fill(whole.begin(), whole.end(), -1);
    std::fill(one.begin(), one.end(), -1);
  };

  MPI_Barrier(comm);
  one.assign(n, me == last ? 5 : -1);
  MPI_Bcast(one.data(), count, MPI_INT, last, comm);
  CHECK(one.front() == 5 && one.back() == 5);
  clear();
  MPI_Gather(mine.data(), count, MPI_INT, whole.data(), count, MPI_INT, last, comm);
  CHECK(me != last || ranks_in_order());
  clear();
  MPI_Gatherv(mine.data(), count, MPI_INT, whole.data(), counts.data(), displs.data(), MPI_INT,
              last, comm);
  CHECK(me != last || ranks_in_order());
  clear();
  MPI_Scatter(send.data(), count, MPI_INT, one.data(), count, MPI_INT, last, comm);
  CHECK(one.front() == last * p + me);
  clear();
  MPI_Scatterv(send.data(), counts.data(), displs.data(), MPI_INT, one.data(), count, MPI_INT, last,
               comm);
  CHECK(one.back() == last * p + me);
  clear();
  MPI_Allgather(mine.data(), count, MPI_INT, whole.data(), count, MPI_INT, comm);
  CHECK(ranks_in_order());
  clear();
  MPI_Allgatherv(mine.data(), count, MPI_INT, whole.data(), counts.data(), displs.data(), MPI_INT,
                 comm);
  CHECK(ranks_in_order());
  clear();
  MPI_Alltoall(send.data(), count, MPI_INT, whole.data(), count, MPI_INT, comm);
  CHECK(transposed());
  clear();
  MPI_Alltoallv(send.data(), counts.data(), displs.data(), MPI_INT, whole.data(), counts.data(),
                displs.data(), MPI_INT, comm);
  CHECK(transposed());
  clear();
  MPI_Alltoallw(send.data(), counts.data(), byte_displs.data(), types.data(), whole.data(),
                counts.data(), byte_displs.data(), types.data(), comm);
  CHECK(transposed());

  MPI_Op right;
  MPI_Op_create(keep_right, 0, &right);
  // keep_right leaves the right operand, so that the highest rank of those reduced is the result.
  for (const bool sums : {true, false}) {
    const MPI_Op op = sums ? MPI_SUM : right;
    const auto expected = [&](int ranks) { return sums ? ranks * (ranks - 1) / 2 : ranks - 1; };
    clear();
    MPI_Reduce(mine.data(), one.data(), count, MPI_INT, op, last, comm);
    CHECK(me != last || one.back() == expected(p));
    clear();
    MPI_Allreduce(mine.data(), one.data(), count, MPI_INT, op, comm);
    CHECK(one.back() == expected(p));
    std::vector<int> long_mine(all, me);
    clear();
    MPI_Reduce_scatter_block(long_mine.data(), one.data(), count, MPI_INT, op, comm);
    CHECK(one.back() == expected(p));
    clear();
    MPI_Reduce_scatter(long_mine.data(), one.data(), counts.data(), MPI_INT, op, comm);
    CHECK(one.back() == expected(p));
    clear();
    MPI_Scan(mine.data(), one.data(), count, MPI_INT, op, comm);
    CHECK(one.back() == expected(me + 1));
    clear();
    MPI_Exscan(mine.data(), one.data(), count, MPI_INT, op, comm);
    CHECK(me == 0 || one.back() == expected(me));
  }
  MPI_Op_free(&right);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm halves;
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &halves);
  for (const int count : {1, 10, 3000, 1}) all_collectives(MPI_COMM_WORLD, count);
  for (const int count : {1, 10}) all_collectives(halves, count);
  MPI_Comm_free(&halves);
  unsigned long long own = 0, native = 0;
  if (unisono_counts != nullptr) unisono_counts(&own, &native);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) std::printf("all right, own %llu native %llu\n", own, native);
  MPI_Finalize();
  return 0;
}
