#include "select/online/offers.h"

#include <gtest/gtest.h>

#include <set>

#include "select/online/proposals.h"
#include "select/online/settings.h"

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

std::string best(const Facts& facts, const unisono::Machine& machine,
                 const Corrections& known = {}) {
  const auto all = proposals(facts);
  const auto offers = best_offers(all, facts, 0, machine, known, 1);
  return offers.empty() ? "" : std::string(all[offers[0].proposal].algorithm->name);
}

TEST(Proposals, AreTheWholeCatalogueThatSendsMessages) {
  for (const int ranks : {2, 7, 16})
    for (int c = 0; c < kCollectives; ++c) {
      const auto collective = static_cast<Collective>(c);
      if (!contains(kAmongAll, collective)) continue;
      const Facts facts = facts_of(collective, ranks, 1 << 20);
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

TEST(Offers, LongCallsGoByPipelinesAndShortOnesByTrees) {
  for (const double rate : {20e6, 100e6, 1e9})
    for (const int ranks : {7, 13, 24}) {
      const auto bcast_of = best(facts_of(bcast, ranks, 512 << 10), ethernet(rate));
      EXPECT_TRUE(bcast_of == "chain" || bcast_of == "circulant" || bcast_of == "sorted")
          << bcast_of;
      EXPECT_NE(best(facts_of(gather, ranks, 32 << 10), ethernet(rate)), "flat");
      const auto small = best(facts_of(bcast, ranks, 8), ethernet(rate));
      EXPECT_TRUE(small == "binomial" || small == "knomial") << small;
    }
}

TEST(Offers, AtMostTwoOfAnAlgorithmFastestFirst) {
  const Facts facts = facts_of(bcast, 13, 1 << 20);
  const auto all = proposals(facts);
  const auto offers = best_offers(all, facts, 0, ethernet(1e8), {}, 1);
  ASSERT_EQ(offers.size(), kMostOffered);
  std::map<std::string_view, int> times;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    EXPECT_LE(++times[all[offers[i].proposal].algorithm->name], 2);
    EXPECT_LE(offers[i == 0 ? 0 : i - 1].seconds, offers[i].seconds);
  }
}

// What one kind has shown of an algorithm holds for the next kind.
TEST(Offers, CorrectionsChangeTheOrderOfOtherKinds) {
  const Facts facts = facts_of(reduce, 13, 512 << 10);
  const std::string first = best(facts, ethernet(1e8));
  Corrections known;
  for (int i = 0; i < 3; ++i) known.learn(first, 0.01, 0.05);
  EXPECT_NE(best(facts, ethernet(1e8), known), first);
  EXPECT_NEAR(known.factor(first), 4.4, 1);
  EXPECT_GT(known.factor("something else"), 1.5);
}

TEST(Offers, ManyRanksCostNoMore) {
  EXPECT_FALSE(best(facts_of(allreduce, 100000, 1 << 20), ethernet(1e9)).empty());
}

TEST(Settings, AutoAndModel) {
  const auto model = parse_online("model:budget=1%,regret=3");
  ASSERT_TRUE(model) << model.error();
  EXPECT_EQ(std::get<ModelSettings>(*model).budget, 0.01);
  EXPECT_EQ(std::get<ModelSettings>(*model).regret, 3);
  EXPECT_EQ(text(*model), "model:budget=1%,regret=3");
  EXPECT_TRUE(std::get<ModelSettings>(*parse_online("auto")).only_unmeasured);
  EXPECT_EQ(text(*parse_online("auto")), "auto");
  EXPECT_FALSE(parse_online("auto:regret=3"));
  EXPECT_FALSE(parse_online("model:calls=3"));
  EXPECT_EQ(first_calls(facts_of(bcast, 13, 512 << 10)), 2);
  EXPECT_EQ(first_calls(facts_of(allgather, 13, 32 << 10)), 2);
  EXPECT_EQ(first_calls(facts_of(bcast, 13, 8)), 64);
}

}  // namespace
}  // namespace unisono
