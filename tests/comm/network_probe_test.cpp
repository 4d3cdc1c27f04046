// On one machine, whose ranks are said to be on several nodes.
#include "comm/network_probe.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "mpi/comm.h"

namespace unisono {
namespace {

/// With so many neighbouring ranks on every node. On a busy machine a stream may be too uneven.
Machine probed(int ranks_per_node) {
  constexpr int kTries = 10;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank_in(MPI_COMM_WORLD) / ranks_per_node, 0, &node);
  const bool several_nodes = ranks_per_node < size_of(MPI_COMM_WORLD);
  Machine machine = probe_network(MPI_COMM_WORLD, node);
  for (int i = 1; i < kTries && several_nodes && !machine.levels[kBetweenNodes]; ++i)
    machine = probe_network(MPI_COMM_WORLD, node);
  MPI_Comm_free(&node);
  return machine;
}

void expect_same_on_all_ranks(const Machine& machine) {
  const std::string own = write_machine(machine);
  std::string first = own;
  auto length = static_cast<int>(first.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  first.resize(static_cast<std::size_t>(length));
  MPI_Bcast(first.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  EXPECT_EQ(own, first);
}

void expect_sensible(const LevelCosts& level) {
  EXPECT_GT(level.one_way(0), 0);
  EXPECT_LT(level.one_way(0), 0.1);
  EXPECT_GE(level.gap(0), 0);
  EXPECT_LT(level.gap(0), 0.1);
  EXPECT_GE(level.one_way(1 << 20), level.one_way(0));
  EXPECT_LT(level.one_way(1 << 20), 1);
}

TEST(NetworkProbe, TimesOfAllLevelsThatTwoRanksHave) {
  const int ranks = size_of(MPI_COMM_WORLD);
  for (int per_node = 1; per_node <= ranks; ++per_node) {
    SCOPED_TRACE(per_node);
    const Machine machine = probed(per_node);
    expect_same_on_all_ranks(machine);
    const bool several_nodes = per_node<ranks, several_in_one = per_node> 1;
    ASSERT_EQ(machine.levels[kBetweenNodes].has_value(), several_nodes);
    ASSERT_EQ(machine.levels[kWithinNode].has_value(), several_in_one);
    if (several_nodes) expect_sensible(*machine.levels[kBetweenNodes]);
    if (several_in_one) expect_sensible(*machine.levels[kWithinNode]);
    const int nodes = (ranks + per_node - 1) / per_node;
    if (several_nodes) {
      EXPECT_EQ(machine.levels[kBetweenNodes]->active, nodes);
    }
    EXPECT_GT(machine.gamma, 0);
    EXPECT_GT(machine.copy, 0);
  }
}

}  // namespace
}  // namespace unisono
