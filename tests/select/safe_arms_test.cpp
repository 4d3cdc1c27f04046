// The rule of the first call between hosts.
#include "select/safe_arms.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <set>
#include <string>

#include "algorithms/composition.h"

namespace unisono {
namespace {

Facts call_on(Collective collective, int hosts, Count bytes) {
  return {.collective = collective, .size = hosts, .bytes = bytes, .nodes = hosts};
}

const SafeRule kRule("mpich");

std::optional<SafeArm> safe_arm(const Facts& facts) { return kRule.arm(facts); }

TEST(SafeArms, AreSafeAndServeTheCall) {
  int arms = 0;
  for (int c = 0; c < kCollectives; ++c)
    for (int hosts = 2; hosts <= 40; ++hosts)
      for (Count bytes = 0; bytes < Count{1} << 24; bytes = 3 * bytes + 1)
        for (const bool commutative : {true, false}) {
          Facts facts = call_on(static_cast<Collective>(c), hosts, bytes);
          facts.commutative = commutative;
          const auto arm = safe_arm(facts);
          if (!arm) continue;
          const Spec* spec = &arm->spec;
          ++arms;
          ASSERT_FALSE(unmet_restriction(*spec->algorithm, conditions(facts), spec->params));
          ASSERT_TRUE(safe_params(*spec->algorithm, {facts.collective, hosts, bytes, commutative}))
              << text(*spec);
          ASSERT_TRUE(kRule.reach(facts.collective, hosts, hosts).holds(bytes));
        }
  EXPECT_GT(arms, 1000);
}

// Longer calls of a kind, and those on more hosts, do not fall back.
TEST(SafeArms, FromALengthOn) {
  for (int c = 0; c < kCollectives; ++c)
    for (const int hosts : {3, 5, 9, 16, 24}) {
      bool had_one = false;
      for (Count bytes = 1; bytes <= Count{1} << 16; bytes *= 2) {
        const bool has_one =
            safe_arm(call_on(static_cast<Collective>(c), hosts, bytes)).has_value();
        EXPECT_GE(has_one, had_one) << name(static_cast<Collective>(c)) << bytes;
        had_one = has_one;
      }
    }
}

// Open MPI's Reduce among few hosts.
TEST(SafeArms, LeaveWhatTheLibraryDoesAtTheWire) {
  const SafeRule rule("openmpi");
  const auto has_one = [&rule](Facts facts, Count bytes) {
    facts.bytes = bytes;
    return rule.arm(facts).has_value();
  };
  const Facts reduce = call_on(Collective::reduce, 6, 0);
  EXPECT_FALSE(has_one(reduce, 48 << 10));
  EXPECT_TRUE(has_one(reduce, 64 << 10));
  EXPECT_TRUE(has_one(call_on(Collective::reduce, 8, 0), 48 << 10));
  EXPECT_TRUE(has_one(call_on(Collective::bcast, 6, 0), 48 << 10));
  EXPECT_EQ(rule.reach(Collective::reduce, 12, 6).least,
            kRule.reach(Collective::reduce, 12, 6).least)
      << "two ranks a host send to the root one behind the other";
}

TEST(SafeArms, WithinHostsRunTheirKernels) {
  std::vector<int> labels;
  for (int rank = 0; rank < 12; ++rank) labels.push_back(rank / 3);
  TopologyLabels levels;
  levels.at(Level::node) = labels;
  const Topology topology(12, levels);
  Facts facts{.collective = Collective::allreduce, .size = 12, .bytes = 1 << 20, .nodes = 4};
  EXPECT_FALSE(safe_arm(facts)) << "nobody has memory of the node";
  facts.kernels_in_nodes = true;
  facts.topology = &topology;
  const auto arm = safe_arm(facts);
  ASSERT_TRUE(arm);
  const Composition& grid = *arm->spec.params.composition;
  EXPECT_TRUE(runs_in_nodes(grid));
  EXPECT_EQ(grid.columns.algorithm->name, "ring");
}

// The same for all jobs: where the ranks are is all that decides.
TEST(SafeArms, SegmentsGrowWithTheCallAndShrinkWithTheHosts) {
  const auto segment = [](int hosts, Count bytes) {
    return safe_arm(call_on(Collective::bcast, hosts, bytes))->spec.params.segment;
  };
  EXPECT_LT(segment(9, 1 << 18), segment(9, 1 << 22));
  EXPECT_GT(segment(5, 1 << 20), segment(24, 1 << 20));
}

// As many segments under way as a port surely holds, and no more.
TEST(SafeArms, HaveEightSegmentsUnderWayOnManyHosts) {
  for (const Collective collective : {Collective::bcast, Collective::reduce}) {
    const Params params = safe_arm(call_on(collective, 32, 1 << 19))->spec.params;
    EXPECT_EQ(params.window, 8);
    EXPECT_EQ(params.window * params.segment, PortBounds{}.out);
  }
}

// A program may let its ranks round in different directions.
TEST(SafeArms, AreTheSameHoweverARankRounds) {
  const int before = std::fegetround();
  for (const int hosts : {3, 4, 6, 9, 10, 18})
    for (Count bytes = 128 << 10; bytes <= 8 << 20; bytes *= 2) {
      std::set<std::string> arms;
      for (const int direction : {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO}) {
        std::fesetround(direction);
        arms.insert(text(safe_arm(call_on(Collective::bcast, hosts, bytes))->spec));
      }
      std::fesetround(before);
      EXPECT_EQ(arms.size(), 1U) << hosts << " hosts, " << bytes << " bytes";
    }
}

}  // namespace
}  // namespace unisono
