// MPI_IN_PLACE on some ranks only, where MPI lets ranks differ: MPI_Reduce_scatter, of which a rank
// that gets nothing need not be in place, MPI_Scan and MPI_Exscan. What lies behind the result of a
// reduce-scatter in place stays as it was.
#include <vector>

#include "check.h"

namespace {

using Ints = std::vector<int>;

/// All of the result goes to rank 0.
void reduce_scatter(int me, int size, int count, bool in_place) {
  Ints counts(static_cast<std::size_t>(size), 0);
  counts[0] = count;
  Ints input(static_cast<std::size_t>(count), me + 1), output(input.size() + 1, me + 1);
  output.back() = -7;
  MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : input.data(), output.data(), counts.data(), MPI_INT,
                     MPI_SUM, MPI_COMM_WORLD);
  const int sum = size * (size + 1) / 2;
  CHECK(output.front() == (me == 0 ? sum : me + 1) && output[output.size() - 2] == output.front());
  CHECK(output.back() == -7);
}

/// A block to each; the rest of the buffer stays.
void reduce_scatter_evenly(int me, int size, int count, bool in_place) {
  const Ints counts(static_cast<std::size_t>(size), count);
  Ints input(static_cast<std::size_t>(count * size), me + 1), output = input;
  MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : input.data(), output.data(), counts.data(), MPI_INT,
                     MPI_SUM, MPI_COMM_WORLD);
  CHECK(output.front() == size * (size + 1) / 2);
  CHECK(output[static_cast<std::size_t>(count - 1)] == output.front());
  CHECK(output[static_cast<std::size_t>(count)] == me + 1 && output.back() == me + 1);
}

void scans(int me, int count, bool in_place) {
  const Ints input(static_cast<std::size_t>(count), me + 1);
  Ints output = input;
  MPI_Scan(in_place ? MPI_IN_PLACE : input.data(), output.data(), count, MPI_INT, MPI_SUM,
           MPI_COMM_WORLD);
  CHECK(output.front() == (me + 1) * (me + 2) / 2 && output.back() == output.front());
  output = input;
  MPI_Exscan(in_place ? MPI_IN_PLACE : input.data(), output.data(), count, MPI_INT, MPI_SUM,
             MPI_COMM_WORLD);
  if (me > 0) CHECK(output.front() == me * (me + 1) / 2 && output.back() == output.front());
}

/// What rank 0 passes for its result, which it does not get, means nothing. MPICH wants an address.
void exscan_to_nowhere(int me) {
#ifdef OPEN_MPI
  const int one = 1;
  int before = -1;
  MPI_Exscan(&one, me == 0 ? MPI_IN_PLACE : &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(me == 0 || before == me);
#else
  static_cast<void>(me);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = conformance::rank_in(MPI_COMM_WORLD);
  const int size = conformance::size_of(MPI_COMM_WORLD);
  for (const char* collective : {"reduce_scatter", "scan", "exscan"})
    conformance::force(collective, "shm");
  for (const int count : {1, 1000, 1 << 16, 1 << 18})
    for (const int in_place : {0, 1}) {
      const bool mine = me % 2 == in_place;
      reduce_scatter(me, size, count, mine);
      reduce_scatter_evenly(me, size, count, mine);
      scans(me, count, mine);
    }
  for (const char* algorithm : {"shm", "recursive_doubling"}) {
    conformance::force("exscan", algorithm);
    exscan_to_nowhere(me);
  }
  conformance::passed("in_place_differs", 32, 34);
  MPI_Finalize();
  return 0;
}
