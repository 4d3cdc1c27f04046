// Grids whose rows are the groups of a topology, against the checker: every composed collective, p
// = 1 .. 17, rows of equal and of several lengths, of adjacent ranks, in turn, and drawn at random;
// and every partition of up to 7 ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "algorithms/catalogue.h"
#include "algorithms/composition.h"
#include "schedule/checker.h"
#include "schedule/problem.h"
#include "select/spec.h"
#include "topology/topology.h"

namespace unisono {

namespace {

struct Placement {
  const char* name;
  std::vector<int> nodes;
  bool adjacent;  ///< rows are intervals
  bool even;
};

/// Placements of p ranks; `draw` makes the random ones.
std::vector<Placement> placements(int p, std::mt19937& draw) {
  const auto ranks = static_cast<std::size_t>(p);
  std::vector<Placement> all(9);
  all[0] = {"block", {}, true, false};
  all[1] = {"round-robin", {}, false, false};
  all[2] = {"uneven blocks", {}, true, false};
  all[3] = {"random", {}, false, false};
  all[4] = {"one node", std::vector<int>(ranks, 7), true, true};
  all[5] = {"reordered pairs", {}, false, false};
  all[6] = {"one long row and rows of one", {}, true, false};
  all[7] = {"part of the nodes' ranks", {}, false, false};
  all[8] = {"in turn, until nodes are full", {}, false, false};
  const int nodes = (p + 2) / 3;
  for (int r = 0; r < p; ++r) {
    all[0].nodes.push_back(r / 3);
    all[1].nodes.push_back(r % nodes);
    const bool next = r > 0 && draw() % 3 == 0;
    all[2].nodes.push_back(r == 0 ? 0 : all[2].nodes.back() + (next ? 1 : 0));
    all[3].nodes.push_back(static_cast<int>(draw() % 4));
    all[5].nodes.push_back(std::min(r, p - 1 - r));
    all[6].nodes.push_back(r < (p + 1) / 2 ? 0 : r);
    all[7].nodes.push_back(r * r % 5);  // every fifth node has fewer
    all[8].nodes.push_back(r < 2 * nodes ? r % nodes : r % ((nodes + 1) / 2));
  }
  for (Placement& placement : all) {
    const RankPartition partition(placement.nodes);
    placement.adjacent = partition.is_in_rank_order();
    placement.even = partition.is_even();
  }
  return all;
}

Topology topology_of(const std::vector<int>& nodes, int nodes_per_switch = 2) {
  TopologyLabels labels;
  labels.at(Level::node) = nodes;
  for (const int node : nodes) labels.at(Level::network_switch).push_back(node / nodes_per_switch);
  return {static_cast<int>(nodes.size()), labels};
}

class Levels : public testing::TestWithParam<Collective> {
 protected:
  std::string inner(Collective collective) {
    std::vector<std::string> names = {"native"};
    for (const Algorithm& row : catalogue())
      if (contains(row.collectives, collective) && (row.restrictions & (kComposed | kOneNode)) == 0)
        names.emplace_back(row.name);
    return names[draw_() % names.size()];
  }

  std::string spec_text(const FormRow& form, bool three) {
    std::string spec = std::string("grid:shape=") + (three ? "switches/nodes" : "nodes") +
                       ",form=" + std::string(kFormNames[static_cast<std::size_t>(form.form)]) +
                       ",rows=" + inner(form.first);
    if (form.second) spec += "+" + inner(*form.second);
    return three ? spec : spec + ",columns=" + inner(form.columns);
  }

  Problem problem(int p, const Topology& topology) {
    const Collective c = GetParam();
    Problem problem{.collective = c, .size = p, .topology = &topology};
    const Count counts[] = {1, 0, p + 1, 3};
    problem.count = c == Collective::barrier ? 0 : counts[draw_() % 4];
    if (is_rooted(c)) problem.root = static_cast<int>(draw_() % static_cast<unsigned>(p));
    if (c != Collective::barrier && c != Collective::bcast) problem.in_place = draw_() % 3 == 0;
    if (is_irregular(c)) problem.gaps = draw_() % 2 == 0;
    problem.commutative = !is_reducing(c) || draw_() % 2 != 0;
    return problem;
  }

  /// 1 if it was right, 0 if a restriction is not met.
  int check_one(const Spec& spec, Problem problem, const std::string& where) {
    problem.params = spec.params;
    const ArgsOfRanks ranks(problem);
    if (unmet_restriction(*spec.algorithm, ranks[0])) return 0;
    const auto violation = check(ranks.args(), build_all(*spec.algorithm, ranks.args()));
    EXPECT_FALSE(violation) << text(spec) << " " << where << " root=" << problem.root
                            << " count=" << problem.count << " in_place=" << problem.in_place
                            << " gaps=" << problem.gaps << " commutative=" << problem.commutative
                            << "\n"
                            << violation->text();
    return 1;
  }

  std::mt19937 draw_{1};
};

TEST_P(Levels, DoWhatMpiDefines) {
  int checked = 0;
  for (int round = 0; round < 4; ++round)
    for (int p = 1; p <= 17; ++p)
      for (const auto& [name, nodes, adjacent, even] : placements(p, draw_)) {
        const Topology topology = topology_of(nodes);
        for (const FormRow& form : forms_of(GetParam()))
          for (const bool three : {false, true}) {
            const auto spec = parse_spec(GetParam(), spec_text(form, three));
            ASSERT_TRUE(spec) << spec.error();
            const auto where = std::string(name) + " p=" + std::to_string(p);
            checked += check_one(*spec, problem(p, topology), where);
            if (HasFailure()) return;
          }
      }
  EXPECT_GT(checked, 100);
}

// Restricted growth strings: labels of which each is at most one above all before it.
void for_each_partition(int p, const std::function<void(const std::vector<int>&)>& visit) {
  std::vector<int> nodes(static_cast<std::size_t>(p), 0);
  const std::function<void(std::size_t, int)> extend = [&](std::size_t at, int labels) {
    if (at == nodes.size()) return visit(nodes);
    for (int label = 0; label <= labels; ++label) {
      nodes[at] = label;
      extend(at + 1, std::max(labels, label + 1));
    }
  };
  extend(0, 0);
}

TEST_P(Levels, ServeEveryPartitionOfAFewRanks) {
  for (int p = 2; p <= 7; ++p)
    for_each_partition(p, [&](const std::vector<int>& nodes) {
      if (HasFailure()) return;
      const Topology topology = topology_of(nodes);
      for (const FormRow& form : forms_of(GetParam())) {
        const auto spec = parse_spec(GetParam(), spec_text(form, false));
        ASSERT_TRUE(spec) << spec.error();
        std::string where;
        for (const int node : nodes) where += std::to_string(node) + " ";
        check_one(*spec, problem(p, topology), "nodes " + where);
      }
    });
}

// What is refused is said in docs/reference/grids.md, and nothing else is.
TEST_P(Levels, ServeWhateverPlacementTheyCan) {
  const Collective c = GetParam();
  const bool prefix = c == Collective::scan || c == Collective::exscan;
  for (int p = 1; p <= 17; ++p)
    for (const auto& [name, nodes, adjacent, even] : placements(p, draw_)) {
      const Topology topology = topology_of(nodes);
      for (const FormRow& form : forms_of(c))
        for (const bool commutative : {true, false}) {
          const std::string written = "grid:shape=nodes,form=" +
                                      std::string(kFormNames[static_cast<std::size_t>(form.form)]);
          const auto spec = parse_spec(c, written);
          ASSERT_TRUE(spec) << spec.error();
          const bool in_order = adjacent || !is_reducing(c) || (commutative && !prefix);
          const bool shaped = even || !form.full_grid;
          const bool any_order = commutative || !form.commutative;
          const auto unmet = unmet_restriction(
              *spec->algorithm, {p, commutative, false, false, &topology}, spec->params);
          EXPECT_EQ(!unmet.has_value(), in_order && shaped && any_order)
              << written << " " << name << " p=" << p << " " << unmet.value_or("");
        }
    }
}

std::vector<Collective> collectives() {
  std::vector<Collective> result;
  for (int c = 0; c < kCollectives; ++c)
    if (find_algorithm(static_cast<Collective>(c), "grid") != nullptr)
      result.push_back(static_cast<Collective>(c));
  return result;
}

INSTANTIATE_TEST_SUITE_P(All, Levels, testing::ValuesIn(collectives()),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(LevelsOfATopology, MustBeKnown) {
  const auto spec = parse_spec(Collective::bcast, "grid:shape=numa");
  ASSERT_TRUE(spec) << spec.error();
  const Topology topology = topology_of({0, 0, 1, 1});
  for (const Topology* known : {static_cast<const Topology*>(nullptr), &topology}) {
    const auto unmet =
        unmet_restriction(*spec->algorithm, {4, true, false, false, known}, spec->params);
    ASSERT_TRUE(unmet);
    EXPECT_NE(unmet->find("level"), std::string::npos) << *unmet;
  }
}

// Columns, and what is nested in them, are not asked then.
TEST(LevelsOfATopology, NeedNotBeKnownAmongTheRanksOfOneRow) {
  TopologyLabels labels;
  labels.at(Level::node) = {5, 5, 5, 5};
  const Topology one_node(4, labels);
  for (int c = 0; c < kCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    if (find_algorithm(collective, "grid") == nullptr) continue;
    const auto spec = parse_spec(collective, "grid:shape=switches/nodes,rows=native");
    ASSERT_TRUE(spec) << spec.error();
    const Composition& composition = composition_of(spec->params, collective);
    ASSERT_FALSE(
        unmet_restriction(*spec->algorithm, {4, true, false, false, &one_node}, spec->params));
    EXPECT_FALSE(has_groups_of_root(composition, collective, 4, &one_node));
    for (const CalledGroups& called : called_groups(composition, collective, 4, 2, &one_node))
      for (const RankGroup& group : called.groups) EXPECT_EQ(group.size(), 4);
  }
}

TEST(LevelsOfATopology, AreWrittenFromFarToNear) {
  for (const auto& [text, expected] :
       {std::pair("grid:shape=nodes/switches", "from far to near"),
        {"grid:shape=racks", "valid: RxC or PxRxC or balanced, or levels: cores"},
        {"grid:shape=switches/nodes/numa", "valid: shape="},
        {"grid:shape=nodes,planes=ring", "three dimensions"}}) {
    const auto spec = parse_spec(Collective::bcast, text);
    ASSERT_FALSE(spec) << text;
    EXPECT_NE(spec.error().find(expected), std::string::npos) << spec.error();
  }
  const auto spec = parse_spec(Collective::bcast, "grid:shape=switches/nodes,rows=chain");
  ASSERT_TRUE(spec) << spec.error();
  EXPECT_EQ(text(*spec),
            "grid:shape=switches/nodes,form=leaders,rows=chain/segment=16K,columns=binomial,"
            "planes=binomial");
}

/// Units that all ranks together send to other nodes.
Count crossing(Collective collective, const std::string& text, const std::vector<int>& nodes,
               Count count) {
  const Topology topology = topology_of(nodes);
  const auto spec = parse_spec(collective, text);
  EXPECT_TRUE(spec) << text;
  Problem problem{.collective = collective,
                  .size = static_cast<int>(nodes.size()),
                  .count = count,
                  .params = spec->params,
                  .topology = &topology};
  const ArgsOfRanks ranks(problem);
  EXPECT_FALSE(unmet_restriction(*spec->algorithm, ranks[0])) << text;
  const auto schedules = build_all(*spec->algorithm, ranks.args());
  Count units = 0;
  for (std::size_t rank = 0; rank < schedules.size(); ++rank)
    for (const Op& op : schedules[rank].ops())
      if (op.kind == OpKind::send && nodes[static_cast<std::size_t>(op.peer)] != nodes[rank])
        units += op.length;
  return units;
}

// What the ring of each lane moves, and no more: the lanes of rows that differ share the vector.
TEST(LanesOfUnevenRows, MoveBetweenNodesWhatLeadersDo) {
  for (const std::vector<int>& nodes : {std::vector{0, 0, 0, 0, 1, 1, 1},
                                        {0, 1, 2, 0, 1, 2, 0, 1},
                                        {0, 0, 0, 1, 2, 2, 2},
                                        {0, 0, 1, 1, 2, 2}}) {
    const auto p = static_cast<Count>(nodes.size());
    const Count others = *std::max_element(nodes.begin(), nodes.end());
    const Count m = 120, b = 12;
    EXPECT_EQ(crossing(Collective::allreduce, "grid:shape=nodes,form=lanes,columns=ring", nodes, m),
              2 * others * m);
    EXPECT_EQ(crossing(Collective::bcast, "grid:shape=nodes,form=lanes,columns=chain", nodes, m),
              others * m);
    for (const Collective c : {Collective::allgather, Collective::reduce_scatter_block})
      EXPECT_EQ(crossing(c, "grid:shape=nodes,form=split", nodes, b), others * p * b);
    Count pairs = 0;
    for (const int from : nodes) pairs += p - std::count(nodes.begin(), nodes.end(), from);
    EXPECT_EQ(
        crossing(Collective::alltoall, "grid:shape=nodes,form=lanes,columns=simple", nodes, b),
        pairs * b);
  }
}

TEST(LanesOfUnevenRows, AreThoseOfTheShortest) {
  const Topology topology = topology_of({0, 0, 0, 1, 1});
  const auto spec = parse_spec(Collective::reduce, "grid:shape=nodes,form=lanes,columns=native");
  ASSERT_TRUE(spec) << spec.error();
  const Composition& grid = *spec->params.composition;
  const std::vector<RankGroup> columns = {{{0, 3}}, {{1, 4}}};
  EXPECT_EQ(called_groups(grid, Collective::reduce, 5, 2, &topology),
            (std::vector<CalledGroups>{{columns}}));
  EXPECT_FALSE(has_groups_of_root(grid, Collective::reduce, 5, &topology));
}

TEST(CalledGroups, AreOfThePlacement) {
  const Topology topology = topology_of({0, 1, 0, 1, 1});
  const auto spec = parse_spec(Collective::bcast, "grid:shape=nodes,rows=native,columns=native");
  ASSERT_TRUE(spec) << spec.error();
  const Composition& grid = *spec->params.composition;
  const std::vector<RankGroup> rows = {{{0, 2}}, {{1, 3, 4}}};
  const auto of_root = [&](int root) {
    return called_groups(grid, Collective::bcast, 5, root, &topology);
  };
  // The root leads its row; a row too short for its column is led by the last.
  EXPECT_EQ(of_root(0), (std::vector<CalledGroups>{{rows}, {{RankGroup{{0, 1}}}}}));
  EXPECT_EQ(of_root(4), (std::vector<CalledGroups>{{rows}, {{RankGroup{{2, 4}}}}}));
  EXPECT_TRUE(has_groups_of_root(grid, Collective::bcast, 5, &topology));
  EXPECT_FALSE(has_groups_of_root(grid, Collective::allgather, 5, &topology));
}

}  // namespace
}  // namespace unisono
