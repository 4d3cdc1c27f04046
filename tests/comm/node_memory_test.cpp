// The memory of a node, among the ranks of MPI_COMM_WORLD, who are all on one.
#include "comm/node_memory.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/statvfs.h>

#include <numeric>
#include <vector>

#include "base/say.h"
#include "base/standard_error.h"
#include "comm/placement.h"
#include "mpi/agreement.h"
#include "mpi/comm.h"
#include "node/kernels.h"
#include "tests/node/made_up_machine.h"

namespace unisono {
namespace {

void expect_works(NodeTeam& team) {
  const long own = team.team().rank() + 1;
  long sum = 0;
  const auto reduction = node::built_in(node::Op::sum, node::Element::int64);
  node::allreduce(team.team(), reinterpret_cast<const std::byte*>(&own),
                  reinterpret_cast<std::byte*>(&sum), 1, *reduction);
  const long size = team.team().size();
  EXPECT_EQ(sum, size * (size + 1) / 2);
}

TEST(ParseNodeMemory, KnowsAutoNoneAndSizes) {
  EXPECT_EQ(**parse_node_memory("0"), 0);
  EXPECT_EQ(**parse_node_memory("1M"), 1 << 20);
  EXPECT_EQ(**parse_node_memory("32G"), 32LL << 30);
  EXPECT_FALSE((*parse_node_memory("auto")).has_value());
  for (const char* wrong : {"", "1K", "33G", "-1M", "much"})
    EXPECT_FALSE(parse_node_memory(wrong)) << wrong;
}

/// The tests that follow use what the first of them starts: a process has one such memory.
class NodeMemory : public testing::Test {
 protected:
  static constexpr long long kBytes = 1 << 20;

  static void SetUpTestSuite() {
    s_node = ranks_of_node(MPI_COMM_WORLD);
    ASSERT_EQ(size_of(s_node), size_of(MPI_COMM_WORLD));
    bind_in_halves();
    const node::MadeUpMachine machine(1, 1, 2, 1);
    // Each rank would wait in a way of its own.
    const WaitMode own = rank_in(s_node) == 0 ? WaitMode::spin : WaitMode::sleep;
    start_node_memory(s_node, {.bytes = kBytes, .mode = own, .machine = machine.folder()});
  }
  static void TearDownTestSuite() {
    stop_node_memory();
    MPI_Comm_free(&s_node);
  }

  /// The first half of the ranks on processor 0, the others on 1, where there are two.
  static void bind_in_halves() {
    cpu_set_t both, own;
    CPU_ZERO(&both);
    sched_getaffinity(0, sizeof both, &both);
    if (!all_agree(MPI_COMM_WORLD, CPU_ISSET(0, &both) && CPU_ISSET(1, &both))) return;
    CPU_ZERO(&own);
    CPU_SET(2 * rank_in(s_node) < size_of(s_node) ? 0U : 1U, &own);
    s_bound = sched_setaffinity(0, sizeof own, &own) == 0;
  }

  static MPI_Comm s_node;
  static bool s_bound;
};
MPI_Comm NodeMemory::s_node = MPI_COMM_NULL;
bool NodeMemory::s_bound = false;

/// Before it is there.
TEST(NoNodeMemory, WhereThereIsNoRoom) {
  struct statvfs facts {};
  ASSERT_EQ(statvfs("/dev/shm", &facts), 0);
  const auto free = static_cast<long long>(facts.f_bavail * facts.f_frsize);
  MPI_Comm node = ranks_of_node(MPI_COMM_WORLD);
  testing::internal::CaptureStderr();
  set_standard_error(unisono_standard_error_now());
  start_node_memory(node, {.bytes = 2 * free + (1LL << 40)});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(has_node_memory());
  EXPECT_EQ(said.find("/dev/shm") != std::string::npos, rank_in(node) == 0) << said;
  MPI_Comm_free(&node);
}

TEST_F(NodeMemory, ServesATeam) {
  ASSERT_TRUE(has_node_memory());
  const auto team = make_team(MPI_COMM_WORLD);
  ASSERT_NE(team, nullptr);
  EXPECT_EQ(team->team().rank(), rank_in(MPI_COMM_WORLD));
  EXPECT_EQ(team->team().size(), size_of(MPI_COMM_WORLD));
  EXPECT_EQ(team->team().mode(), WaitMode::sleep) << "the slowest way of any of them";
  expect_works(*team);
}

TEST_F(NodeMemory, IsRefusedWhenUsedUpAndComesBack) {
  std::vector<std::unique_ptr<NodeTeam>> teams;
  for (auto team = make_team(s_node); team != nullptr; team = make_team(s_node)) {
    expect_works(*team);
    teams.push_back(std::move(team));
    ASSERT_LT(teams.size(), static_cast<std::size_t>(kBytes) / node::Pool::kUnit);
  }
  const std::size_t before = teams.size();
  ASSERT_GE(before, 1U);
  teams.pop_back();
  MPI_Barrier(s_node);  // the last one to leave gives the memory back
  teams.push_back(make_team(s_node));
  ASSERT_NE(teams.back(), nullptr);
  for (const auto& team : teams) expect_works(*team);
}

TEST_F(NodeMemory, ServesPartsOfTheNode) {
  const int rank = rank_in(s_node);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(s_node, rank % 2, -rank, &part);
  {
    const auto team = make_team(part);
    ASSERT_NE(team, nullptr);
    EXPECT_EQ(team->team().size(), size_of(part));
    expect_works(*team);
    MPI_Barrier(s_node);
  }
  MPI_Comm_free(&part);
}

/// With four ranks or more, on a machine of two processors with a cache each.
TEST_F(NodeMemory, KnowsTheCachesOfItsRanks) {
  const int size = size_of(s_node);
  std::vector<int> halves;
  for (int rank = 0; s_bound && size >= 4 && rank < size; ++rank)
    halves.push_back(2 * rank < size ? 0 : 1);
  EXPECT_EQ(domains_in(s_node), halves);
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(s_node, 0, -rank_in(s_node), &reversed);
  EXPECT_EQ(domains_in(reversed), std::vector<int>(halves.rbegin(), halves.rend()));
  MPI_Comm_free(&reversed);
}

}  // namespace
}  // namespace unisono
