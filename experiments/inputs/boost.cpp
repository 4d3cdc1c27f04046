// Collectives of Boost.MPI on what it serialises, strings and vectors, and on numbers with operations of its own.
#include <boost/mpi.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace mpi = boost::mpi;

int main(int argc, char** argv) {
  const mpi::environment environment(argc, argv);
  const mpi::communicator world;
  const int rank = world.rank(), ranks = world.size();
  unsigned long long sum = 0;
  for (int step = 0; step < 200; ++step) {
    std::string text = rank == step % ranks ? std::string(step * 37 % 5000, 'a' + step % 26) : "";
    mpi::broadcast(world, text, step % ranks);
    std::vector<std::vector<int>> lists;
    mpi::all_gather(world, std::vector<int>(static_cast<std::size_t>(step % 50 + rank), rank), lists);
    for (const auto& list : lists)
      for (const int value : list) sum += static_cast<unsigned>(value) + text.size();
    sum += mpi::all_reduce(world, text.size() * static_cast<unsigned>(rank + 1), std::plus<>());
    const auto longest = mpi::all_reduce(
        world, std::string(static_cast<std::size_t>(rank * step % 11), 'x'),
        [](const std::string& a, const std::string& b) { return a.size() < b.size() ? b : a; });
    sum += longest.size();
    std::vector<int> to(static_cast<std::size_t>(ranks)), from;
    for (int peer = 0; peer < ranks; ++peer) to[static_cast<std::size_t>(peer)] = rank * 100 + peer + step;
    mpi::all_to_all(world, to, from);
    for (const int value : from) sum += static_cast<unsigned>(value);
    sum += static_cast<unsigned>(mpi::scan(world, rank + step, std::plus<>()));
    if (step % 20 == 0) {
      const mpi::communicator half = world.split(rank % 2);
      std::vector<double> values(1000, rank + step), added(1000);
      mpi::all_reduce(half, values.data(), 1000, added.data(), std::plus<>());
      sum += static_cast<unsigned long long>(added[999]);
    }
  }
  std::vector<unsigned long long> all;
  mpi::gather(world, sum, all, 0);
  if (rank == 0)
    for (const auto value : all) std::printf("sum %llu\n", value);
  return 0;
}
