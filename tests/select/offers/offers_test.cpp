#include "select/offers/offers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "algorithms/composition.h"
#include "model/price.h"
#include "select/offers/proposals.h"

namespace unisono {
namespace {

using enum Collective;

unisono::Machine ethernet(double bits_per_second) {
  unisono::Machine machine;
  machine.levels[kBetweenNodes] = hockney(3e-5, 8 / bits_per_second);
  machine.gamma = 3e-10;
  machine.incast = kCheapSwitch;
  return machine;
}

Facts facts_of(Collective collective, int ranks, Count bytes) {
  return {.collective = collective, .size = ranks, .bytes = bytes, .nodes = ranks};
}

// A job has milliseconds; what these tests say must hold on a machine of any speed.
constexpr double kAllTheTime = 1e6;

std::vector<Offer> best_offers(const std::vector<Spec>& all, const Facts& facts,
                               const unisono::Machine& machine) {
  return Pricing(all, facts, 0, machine).best(kAllTheTime);
}

std::string best(const Facts& facts, const unisono::Machine& machine) {
  const auto all = proposals(facts);
  const auto offers = best_offers(all, facts, machine);
  return offers.empty() ? "" : std::string(all[offers[0].proposal].algorithm->name);
}

TEST(Proposals, AreTheWholeCatalogueThatSendsMessages) {
  for (const int ranks : {2, 7, 16})
    for (int c = 0; c < kCollectives; ++c) {
      const auto collective = static_cast<Collective>(c);
      const NeighbourGraph stencil = NamedGrid::parse("stencil", ranks)->graph();
      Facts facts = facts_of(collective, ranks, 1 << 20);
      if (is_among_neighbours(collective)) facts.graph = &stencil;
      std::set<std::string_view> named;
      std::set<std::string> texts;
      for (const Spec& spec : proposals(facts)) {
        named.insert(spec.algorithm->name);
        EXPECT_TRUE(texts.insert(text(spec)).second) << text(spec) << " twice";
        EXPECT_FALSE(unmet_restriction(*spec.algorithm, conditions(facts), spec.params));
      }
      for (const Algorithm& row : catalogue()) {
        const bool serves = contains(row.collectives, collective) &&
                            (row.restrictions & (kOneNode | kComposed)) == 0 &&
                            !unmet_restriction(row, conditions(facts));
        EXPECT_EQ(named.contains(row.name) && serves, serves) << row.name;
      }
    }
}

/// Nodes with several ranks, their ranks in blocks, in turn, or as it comes.
struct Placed {
  explicit Placed(const std::vector<int>& nodes)
      : topology(static_cast<int>(nodes.size()), [&] {
          TopologyLabels labels;
          labels.at(Level::node) = nodes;
          return labels;
        }()) {}

  Facts facts(Collective collective, Count bytes) const {
    Facts known = facts_of(collective, topology.size(), bytes);
    known.nodes = topology.at(Level::node)->groups();
    known.topology = &topology;
    known.kernels_in_nodes = true;
    return known;
  }
  const Topology topology;
};
std::vector<int> placed(int nodes, int on_each, bool in_turn) {
  std::vector<int> where;
  for (int r = 0; r < nodes * on_each; ++r) where.push_back(in_turn ? r % nodes : r / on_each);
  return where;
}
const std::vector<int> kUneven = {0, 1, 1, 0, 2, 2, 2, 3};

unisono::Machine of_levels(double bits_per_second) {
  unisono::Machine machine = ethernet(bits_per_second);
  machine.levels[kWithinNode] = hockney(5e-6, 3e-10);
  machine.kernels = NodeKernels{node::prior_costs({2, 2, WaitMode::yield}), 2, WaitMode::yield};
  return machine;
}

TEST(Proposals, GridsByNodesWithEveryRowBetweenThem) {
  for (const auto& nodes : {placed(8, 2, false), placed(6, 3, true), kUneven})
    for (int c = 0; c < kCollectives; ++c) {
      const auto collective = static_cast<Collective>(c);
      if (!contains(kAmongAll, collective)) continue;
      const Placed job(nodes);
      const Facts facts = job.facts(collective, 1 << 20);
      std::set<std::string> texts;
      std::map<std::string, int> families;
      for (const Spec& spec : proposals(facts)) {
        EXPECT_TRUE(texts.insert(text(spec)).second) << text(spec) << " twice";
        EXPECT_FALSE(unmet_restriction(*spec.algorithm, conditions(facts), spec.params));
        const Composition* grid = spec.params.composition;
        if (grid == nullptr) continue;
        ++families[family_of(spec)];
        EXPECT_TRUE(runs_in_nodes(*grid)) << text(spec);
        // A phase of a grid that a user writes has a segment.
        const Spec closed = has_open_segment(spec) ? with_segment(spec, 4096) : spec;
        EXPECT_EQ(text(*parse_spec(collective, text(closed))), text(closed));
      }
      const bool has_any = find_algorithm(collective, "grid") != nullptr;
      const bool in_order = nodes != kUneven && nodes[1] == 0;
      const bool needs_order = contains(set_of(scan, exscan), collective);
      EXPECT_EQ(families.empty(), !has_any || (needs_order && !in_order)) << name(collective);
      for (const FormRow& form : forms_of(collective)) {
        if (families.empty() || (form.full_grid && nodes == kUneven)) continue;
        const NestedSpec between = textbook(form.columns);
        const std::string form_name(kFormNames[static_cast<std::size_t>(form.form)]);
        EXPECT_TRUE(
            families.contains("grid " + form_name + " " + std::string(between.algorithm->name)))
            << name(collective) << " " << form_name;
      }
    }
}

TEST(Proposals, NoGridsWhereNodesHaveNoMemoryOrOneRank) {
  const Placed job(placed(8, 2, false));
  for (const bool has_memory : {true, false}) {
    Facts facts = job.facts(bcast, 1 << 20);
    facts.kernels_in_nodes = has_memory;
    const auto all = proposals(facts);
    EXPECT_EQ(std::any_of(all.begin(), all.end(),
                          [](const Spec& spec) { return spec.params.composition != nullptr; }),
              has_memory);
  }
}

// Every one of them has a price, and where a grid must be cheaper the first offer is one.
TEST(Offers, AGridWhereRanksShareAPort) {
  for (const auto& nodes : {placed(4, 4, false), placed(6, 3, true), kUneven})
    for (const Collective collective : {allgather, alltoall, reduce_scatter_block, bcast}) {
      const Placed job(nodes);
      const Facts facts = job.facts(
          collective, collective == reduce_scatter_block || collective == bcast ? 1 << 20 : 32768);
      const auto all = proposals(facts);
      const auto offers = best_offers(all, facts, of_levels(1e8));
      ASSERT_GE(offers.size(), 10U);
      EXPECT_NE(all[offers[0].proposal].params.composition, nullptr)
          << name(collective) << ": " << text(all[offers[0].proposal]);
      for (const Spec& each : all) {
        const Spec spec = has_open_segment(each) ? with_segment(each, 4096) : each;
        EXPECT_TRUE(
            price(*spec.algorithm, spec.params,
                  {collective, facts.size, facts.nodes, facts.bytes, 0, true, facts.topology},
                  of_levels(1e8)))
            << text(spec);
      }
    }
}

TEST(Offers, LongCallsGoByPipelinesAndShortOnesByTrees) {
  for (const double rate : {20e6, 100e6, 1e9})
    for (const int ranks : {7, 13, 24}) {
      const auto bcast_of = best(facts_of(bcast, ranks, 512 << 10), ethernet(rate));
      EXPECT_TRUE(bcast_of == "chain" || bcast_of == "circulant" || bcast_of == "sorted" ||
                  bcast_of == "two_tree")
          << bcast_of;
      EXPECT_NE(best(facts_of(gather, ranks, 32 << 10), ethernet(rate)), "flat");
      const auto small = best(facts_of(bcast, ranks, 8), ethernet(rate));
      EXPECT_TRUE(small == "binomial" || small == "knomial") << small;
    }
}

TEST(Offers, AtMostTwoOfAnAlgorithmFastestFirst) {
  const Facts facts = facts_of(bcast, 13, 1 << 20);
  const auto all = proposals(facts);
  const auto offers = best_offers(all, facts, ethernet(1e8));
  ASSERT_GE(offers.size(), 8U);
  std::map<std::string_view, int> times;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    EXPECT_LE(++times[all[offers[i].proposal].algorithm->name], 2);
    EXPECT_LE(offers[i == 0 ? 0 : i - 1].seconds, offers[i].seconds);
  }
}

// One other segment is offered, and no other is better by more than what a search leaves.
TEST(Offers, TheSegmentOfAPipelineIsTheModels) {
  for (const double rate : {1e8, 1e10}) {
    const Facts facts = facts_of(bcast, 13, 1 << 20);
    unisono::Machine machine = ethernet(rate);
    machine.incast = {};
    Pricing pricing(proposals(facts), facts, 0, machine);
    const auto offers = pricing.best(kAllTheTime);
    const Algorithm& chain = *find_algorithm(bcast, "chain");
    double best = kNoLimit;
    std::set<Count> segments;
    for (const Offer& offer : offers)
      if (const Spec spec = pricing.spec_of(offer); spec.algorithm == &chain) {
        segments.insert(spec.params.segment);
        best = std::min(best, offer.seconds);
      }
    EXPECT_EQ(segments.size(), 2U);
    EXPECT_TRUE(segments.contains(16384));
    for (const Count segment : {1024, 4096, 8192, 16384, 32768, 65536})
      EXPECT_LE(best, 1.03 * *price(chain, {.segment = segment},
                                    {bcast, facts.size, facts.nodes, facts.bytes}, machine))
          << segment;
  }
}

TEST(Proposals, OneOpenSegmentForEachRowThatHasOne) {
  std::multiset<std::string> open;
  std::set<std::string> cut;
  for (const Spec& spec : proposals(facts_of(bcast, 13, 1 << 20))) {
    if (has_open_segment(spec)) open.insert(family_of(spec));
    if (has_segment(*spec.algorithm)) cut.insert(family_of(spec));
  }
  EXPECT_EQ(open, (std::multiset<std::string>(cut.begin(), cut.end())));
  EXPECT_TRUE(cut.contains("chain") && cut.contains("circulant"));
  for (const Spec& spec : proposals(facts_of(bcast, 13, 1000)))
    EXPECT_FALSE(has_open_segment(spec)) << text(spec);
}

// Of more of them the risk is known then: where it is nothing, they are the same.
TEST(Offers, InInstalmentsThePricesAreTheSame) {
  const Facts facts = facts_of(allreduce, 13, 1 << 20);
  unisono::Machine machine = ethernet(1e8);
  machine.incast = {};
  const auto all = proposals(facts);
  Pricing pricing(all, facts, 0, machine);
  int asked = 0;
  for (; !pricing.is_complete(); ++asked) pricing.best(0.5e-3);
  EXPECT_GT(asked, 1);
  const auto whole = best_offers(all, facts, machine), parts = pricing.best(0);
  ASSERT_EQ(parts.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(parts[i].seconds, whole[i].seconds);
}

// Not what posts all at once, nor what only the order of its messages keeps in step.
TEST(Offers, AnAlltoallThatKeepsItsRanksInStepComesFirst) {
  for (const int ranks : {7, 13}) {
    const std::string first = best(facts_of(alltoall, ranks, 32 << 10), ethernet(1e8));
    EXPECT_TRUE(first == "ring_barrier" || first == "ring_light_barrier") << first;
  }
}

TEST(Offers, ManyRanksCostNoMore) {
  EXPECT_FALSE(best(facts_of(allreduce, 100000, 1 << 20), ethernet(1e9)).empty());
}

/// Of a rank on every host, in their order.
Topology torus_topology(std::vector<int> sizes) {
  TopologyLabels labels;
  labels.torus.torus = std::make_shared<const Torus>(std::move(sizes));
  const int hosts = labels.torus.torus->hosts();
  for (int r = 0; r < hosts; ++r) labels.torus.of_rank.push_back(r);
  labels.at(Level::node) = labels.torus.of_rank;
  return {hosts, labels};
}

// Where a file describes a torus, its links are the model's: what uses several at once is the best
// for long messages, on more hosts, too, than are walked through elsewhere.
TEST(Offers, OnATorusItsTreesComeFirst) {
  const unisono::Machine machine = ethernet(3.4e9);
  for (const auto& sizes : {std::vector{4, 4}, std::vector{3, 3, 3}, std::vector{3, 5, 5}}) {
    const Topology topology = torus_topology(sizes);
    for (const Collective c : {bcast, reduce}) {
      Facts facts = facts_of(c, topology.size(), 1 << 20);
      EXPECT_NE(best(facts, machine), "torus");
      facts.topology = &topology;
      EXPECT_EQ(best(facts, machine), "torus") << topology.size() << " hosts";
    }
  }
}

}  // namespace
}  // namespace unisono
