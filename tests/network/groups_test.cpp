// Groups on one network: each by itself where they do not meet, slower where they do.
#include "network/groups.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "network/flows.h"

namespace unisono {
namespace {

constexpr NetworkSpeeds kSlowLinks{1e6, 1e-5, 1e6};

FlowTimes chains(std::span<const TorusGroup> groups, int ranks) {
  const Algorithm* chain = find_algorithm(Collective::bcast, "chain");
  std::vector<Problem> problems;
  for (const TorusGroup& group : groups) {
    Problem problem{.collective = Collective::bcast,
                    .size = static_cast<int>(group.hosts.size()),
                    .count = 100};
    problem.params = default_params(*chain);
    problems.push_back(problem);
  }
  auto programs = programs_apart(*chain, problems, groups, ranks, 2);
  EXPECT_TRUE(programs) << programs.error();
  const auto network = make_network("torus:" + std::to_string(ranks), Routing::minimal, kSlowLinks);
  std::vector<int> hosts(static_cast<std::size_t>(ranks));
  std::iota(hosts.begin(), hosts.end(), 0);
  const auto times = simulate_flows(std::move(*programs), **network, hosts);
  EXPECT_TRUE(times) << times.error();
  return *times;
}

TEST(GroupsOnANetwork, ThoseThatDoNotMeetTakeNoLonger) {
  const std::array groups{TorusGroup{{0, 1}, 0}, TorusGroup{{4, 3}, 4}};
  const FlowTimes times = chains(groups, 6);
  EXPECT_EQ(times.messages, 2);
  EXPECT_EQ(times.slowed, 0);
  EXPECT_DOUBLE_EQ(times.seconds, 126e-6);
  EXPECT_EQ(times.seconds_of_rank[5], 0) << "it is in no group";
}

TEST(GroupsOnANetwork, ThoseThatMeetShareTheLink) {
  const std::array groups{TorusGroup{{0, 2}, 0}, TorusGroup{{1, 3}, 1}};
  const FlowTimes times = chains(groups, 6);
  EXPECT_EQ(times.slowed, 2);
  EXPECT_GT(times.seconds, 240e-6);
}

TEST(GroupsOnANetwork, CooperatingOnesNeverShareOne) {
  const auto torus = std::make_shared<const Torus>(std::vector{4, 4});
  std::vector<TorusGroup> groups(4);
  for (int host = 0; host < 16; ++host)
    groups[static_cast<std::size_t>(host * 7 % 16 % 4)].hosts.push_back(host);
  for (TorusGroup& group : groups) group.root = group.hosts[0];
  const auto cooperation = cooperating_trees(torus, groups, TreesFor::broadcast);
  ASSERT_EQ(cooperation->sharing, 1);
  Problem problem{.collective = Collective::bcast, .size = 16, .count = 40'000};
  problem.params.segment = 1000;
  auto programs = programs_together(*cooperation, problem, groups, 1);
  ASSERT_TRUE(programs) << programs.error();
  const auto network = make_network("torus:4x4", Routing::minimal, kSlowLinks);
  std::vector<int> hosts(16);
  std::iota(hosts.begin(), hosts.end(), 0);
  const auto times = simulate_flows(std::move(*programs), **network, hosts);
  ASSERT_TRUE(times) << times.error();
  EXPECT_EQ(times->slowed, 0);
  // Each group a link: a pipeline of 40 segments, a message at a time.
  EXPECT_NEAR(times->seconds, (40 + cooperation->depth - 1) * 1026e-6, 2 * 1026e-6);
}

}  // namespace
}  // namespace unisono
