// On one machine all ranks have one clock, so that the truth is known: every offset is 0.
#include "runtime/clocks.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <vector>

namespace unisono {
namespace {

std::vector<int> nodes_of(int ranks_per_node) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> nodes(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank)
    nodes[static_cast<std::size_t>(rank)] = rank / ranks_per_node * ranks_per_node;
  return nodes;
}

TEST(Clocks, ZeroIsWithinTheErrorHoweverTheRanksAreSpread) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int ranks_per_node = 1; ranks_per_node <= 3; ++ranks_per_node) {
    const std::vector<int> nodes = nodes_of(ranks_per_node);
    const trace::ClockOffset offset = clock_offset(MPI_COMM_WORLD, nodes);
    wait_quietly_for_all(MPI_COMM_WORLD);
    EXPECT_LE(std::abs(offset.offset_ns), offset.error_ns);
    EXPECT_GT(offset.at_ns, 0);
    const bool measured = nodes[static_cast<std::size_t>(rank)] != 0;
    EXPECT_EQ(offset.error_ns > 0, measured);
  }
}

TEST(Clocks, OneWayTimesCoverTheSizesOnRankZero) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (const auto& nodes : {nodes_of(1), nodes_of(1000)}) {
    const std::vector<OneWay> times = one_way_times(MPI_COMM_WORLD, nodes, 1000);
    wait_quietly_for_all(MPI_COMM_WORLD);
    if (rank != 0) {
      EXPECT_TRUE(times.empty());
      continue;
    }
    ASSERT_FALSE(times.empty());
    EXPECT_LE(times.size(), 6U);  // 1, 4, 16, ... 1024; fewer when half a second does not suffice
    std::uint64_t bytes = 1;
    for (const OneWay& time : times) {
      EXPECT_EQ(time.bytes, bytes);
      EXPECT_GT(time.seconds, 0);
      EXPECT_GE(time.seconds, times.front().seconds) << "no less than the answer of a byte";
      bytes *= 4;
    }
  }
}

}  // namespace
}  // namespace unisono
