// The algorithms over the hosts of a torus: right for every placement, and with no two messages on
// a link where their trees are said to be such.
#include "algorithms/torus.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <sstream>

#include "algorithms/catalogue.h"
#include "schedule/checker.h"
#include "schedule/problem.h"
#include "topology/link_check.h"

namespace unisono {

namespace {

using enum Collective;

struct Placed {
  std::vector<int> sizes;
  std::vector<bool> wraps;
  Routing routing = Routing::minimal;
  std::vector<int> of_rank;
};

TopologyLabels labels_of(const Placed& placed) {
  TopologyLabels labels;
  labels.torus = {std::make_shared<const Torus>(placed.sizes, placed.wraps), placed.routing,
                  placed.of_rank};
  return labels;
}

std::vector<int> every_host(const std::vector<int>& sizes) {
  std::vector<int> hosts(static_cast<std::size_t>(
      std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies<>())));
  std::iota(hosts.begin(), hosts.end(), 0);
  return hosts;
}

/// Whole tori and meshes, in order and not, several ranks a host, any subsets.
std::vector<Placed> placements() {
  std::vector<Placed> all;
  std::mt19937 random(5);
  for (const std::vector<int>& sizes :
       std::vector<std::vector<int>>{{2}, {5}, {4, 4}, {3, 5}, {2, 3, 2}, {3, 3, 3}, {1, 4}}) {
    for (const Routing routing :
         {Routing::minimal, Routing::directed, Routing::source, Routing::adaptive}) {
      const std::vector<int> hosts = every_host(sizes);
      all.push_back({sizes, {}, routing, hosts});
      std::vector<int> shuffled = hosts;
      std::shuffle(shuffled.begin(), shuffled.end(), random);
      all.push_back({sizes, {}, routing, shuffled});
      shuffled.resize((shuffled.size() + 1) / 2);
      all.push_back({sizes, {}, routing, shuffled});
      std::vector<int> doubled = shuffled;
      doubled.insert(doubled.end(), shuffled.begin(), shuffled.end());
      all.push_back({sizes, {}, routing, doubled});
      std::sort(doubled.begin(), doubled.end());
      all.push_back({sizes, {}, routing, doubled});
      all.push_back({sizes, std::vector<bool>(sizes.size(), false), routing, hosts});
      all.push_back({sizes, {}, routing, {hosts.back(), hosts.front(), hosts.back()}});
    }
  }
  return all;
}

std::string text(const Placed& placed, const Problem& problem) {
  std::ostringstream out;
  out << name(problem.collective) << " torus";
  for (const int size : placed.sizes) out << 'x' << size;
  out << " routing " << static_cast<int>(placed.routing) << " trees " << problem.params.trees
      << " root " << problem.root << " count " << problem.count << " in place " << problem.in_place
      << " hosts";
  for (const int host : placed.of_rank) out << ' ' << host;
  return out.str();
}

/// Every kind of trees for the collectives that use them each in their way; for the others one.
bool is_worth_checking(Collective collective, std::size_t kind, std::size_t placement) {
  return contains(set_of(bcast, reduce, allreduce), collective) ||
         kind == placement % kTreeKindNames.size();
}

Problem problem_of(Collective collective, std::size_t kind, const Topology& topology) {
  const Algorithm& row = *find_algorithm(collective, "torus");
  const bool any_root = contains(set_of(bcast, reduce), collective);
  Problem problem{.collective = collective,
                  .size = topology.size(),
                  .root = any_root ? static_cast<int>(kind) % topology.size() : 0,
                  .count = static_cast<Count>(3 + kind * 4),
                  .in_place = kind % 2 == 1,
                  .commutative = kind != 2 || (row.restrictions & kCommutative) != 0,
                  .topology = &topology};
  problem.params = default_params(row);
  problem.params.segment = kind % 2 == 0 ? 1 : 3;
  problem.params.window = static_cast<Count>(kind % 3 + 1);
  problem.params.trees = static_cast<Count>(kind);
  return problem;
}

TEST(Torus, IsRightForEveryPlacement) {
  std::size_t number = 0;
  for (const Placed& placed : placements()) {
    const Topology topology(static_cast<int>(placed.of_rank.size()), labels_of(placed));
    ++number;
    for (const Collective collective : {bcast, reduce, allreduce, reduce_scatter_block,
                                        reduce_scatter, allgather, allgatherv, scan, exscan})
      for (std::size_t kind = 0; kind < kTreeKindNames.size(); ++kind) {
        if (!is_worth_checking(collective, kind, number)) continue;
        const Problem problem = problem_of(collective, kind, topology);
        const ArgsOfRanks args(problem);
        const auto violation =
            check(args.args(), build_all(*find_algorithm(collective, "torus"), args.args()));
        ASSERT_FALSE(violation) << text(placed, problem) << ": " << violation->text();
      }
  }
}

// Three trees each way: so many messages under way on a channel do not divide the number of tags.
TEST(Torus, MoreMessagesThanThereAreTagsStayInOrder) {
  const Topology topology(6, labels_of({{3, 2}, {}, Routing::minimal, {4, 0, 3, 1, 2, 5}}));
  for (const Collective collective : {allgather, allreduce, reduce_scatter_block}) {
    Problem problem = problem_of(collective, 0, topology);
    problem.count = collective == allreduce ? 6000 : 1000;
    const ArgsOfRanks args(problem);
    const auto schedules = build_all(*find_algorithm(collective, "torus"), args.args());
    Count last = 0;
    for (const Op& op : schedules[0].ops())
      if (op.is_message()) last = std::max(last, op.position());
    EXPECT_GT(last, kChannelDepth) << name(collective);
    const auto violation = check(args.args(), schedules);
    EXPECT_FALSE(violation) << name(collective) << ": " << violation->text();
  }
}

std::vector<Schedule> schedules_of(Collective collective, std::string_view algorithm,
                                   const Topology& topology, int root = 0) {
  const Algorithm& row = *find_algorithm(collective, algorithm);
  Problem problem{.collective = collective,
                  .size = topology.size(),
                  .root = root,
                  .count = 40,
                  .topology = &topology};
  problem.params = default_params(row);
  const ArgsOfRanks args(problem);
  return build_all(row, args.args());
}

TEST(Torus, NoTwoMessagesShareALinkOnWholeTori) {
  for (const std::vector<int>& sizes :
       std::vector<std::vector<int>>{{7}, {4, 4}, {3, 5}, {4, 4, 4}, {5, 7, 3}, {3, 3, 3, 3}}) {
    const Placed placed{sizes, {}, Routing::minimal, every_host(sizes)};
    const int size = static_cast<int>(placed.of_rank.size());
    const Topology topology(size, labels_of(placed));
    for (const Collective collective :
         {bcast, reduce, allreduce, allgather, reduce_scatter, scan, exscan}) {
      const bool any_root = contains(set_of(bcast, reduce), collective);
      const auto schedules = schedules_of(collective, "torus", topology, any_root ? size / 2 : 0);
      const LinkReport report = check_links(schedules, *topology.torus());
      EXPECT_TRUE(report.contention_free())
          << name(collective) << ": " << report.text(topology.torus()->members().torus());
    }
  }
}

TEST(Torus, ThreeRanksAHostShareNoLinkEither) {
  std::vector<int> hosts;
  for (int i = 0; i < 3 * 16; ++i) hosts.push_back(i % 16);
  const Topology topology(48, labels_of({{4, 4}, {}, Routing::minimal, hosts}));
  for (const Collective collective : {bcast, reduce, allreduce, allgather, reduce_scatter}) {
    const LinkReport report =
        check_links(schedules_of(collective, "torus", topology), *topology.torus());
    EXPECT_TRUE(report.contention_free())
        << name(collective) << ": " << report.text(topology.torus()->members().torus());
  }
}

TEST(Torus, ALinkThatTwoMessagesShareIsNamedByCoordinates) {
  const Topology topology(4, labels_of({{8}, {}, Routing::minimal, {0, 2, 1, 3}}));
  const LinkReport report = check_links(schedules_of(bcast, "chain", topology), *topology.torus());
  EXPECT_FALSE(report.contention_free());
  EXPECT_EQ(report.text(topology.torus()->members().torus()),
            "(1) up in dimension 0 carries (0) -> (2) and (1) -> (3)");
}

TEST(Torus, ByRoundsOnlyMessagesOfOneRoundCount) {
  const Topology topology(4, labels_of({{8}, {}, Routing::minimal, {0, 2, 1, 3}}));
  Problem problem{.collective = bcast, .size = 4, .count = 1, .topology = &topology};
  const Algorithm& row = *find_algorithm(bcast, "chain");
  problem.params = default_params(row);
  const ArgsOfRanks args(problem);
  const auto one_segment = build_all(row, args.args());
  EXPECT_FALSE(check_links(one_segment, *topology.torus()).contention_free());
  EXPECT_TRUE(check_links_by_rounds(one_segment, *topology.torus()).contention_free());
}

}  // namespace

}  // namespace unisono
