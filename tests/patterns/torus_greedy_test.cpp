// The greedy packing: trees that share no link, as many as the ports nearly allow, the same on
// every rank, for a limited work; and the best of all constructions.
#include <set>
#include <tuple>

#include "patterns/torus_bound.h"
#include "patterns/torus_packing.h"
#include "tests/patterns/random_members.h"
#include "tests/thorough.h"

namespace unisono {
namespace {

constexpr Routing kAllRoutings[] = {Routing::minimal, Routing::directed, Routing::source,
                                    Routing::adaptive};

int count_of(const std::optional<TorusTrees>& trees) {
  return trees ? static_cast<int>(std::max(trees->out.size(), trees->in.size())) : 0;
}

void expect_packing(const TorusMembers& members, int root) {
  for (const Routing routing : kAllRoutings)
    for (const TreesFor use : kAllUses) {
      const auto trees = greedy_trees(members, root, use, routing);
      if (!trees) continue;
      expect_trees(members, root, use, trees, true);
      if (testing::Test::HasFatalFailure()) return;
      ASSERT_TRUE(use != TreesFor::both || trees->out.size() == trees->in.size());
      ASSERT_LE(count_of(trees), port_bound(members, root, use, routing)) << text(members, root);
      ASSERT_TRUE(routing != Routing::adaptive || only_neighbours(members, *trees));
      for (const TorusTree& tree : all_of(*trees)) {
        ASSERT_EQ(tree.ways.empty(), routing != Routing::directed);
        ASSERT_EQ(tree.route.empty(), routing != Routing::source);
      }
    }
}

TEST(GreedyTrees, ShareNoLink) {
  std::mt19937 random(20125);
  for (const auto& torus : small_tori())
    for (int i = 0; i < (is_thorough() ? 100 : 12); ++i) {
      const auto members = random_members(torus, random_number(2, torus->hosts(), random), random);
      expect_packing(members, random_number(0, members.size() - 1, random));
      if (HasFatalFailure()) return;
    }
}

TEST(GreedyTrees, AreTheSameInWhateverOrderHostsAreNamed) {
  std::mt19937 random(20126);
  for (const auto& torus : {torus_of({6, 6}), torus_of({6, 5, 4})})
    for (const Routing routing : kAllRoutings) {
      const auto members = random_members(torus, torus->hosts() / 2, random);
      std::vector<int> hosts(members.hosts().begin(), members.hosts().end());
      std::reverse(hosts.begin(), hosts.end());
      const TorusMembers again(torus, hosts);
      const auto one = greedy_trees(members, 3, TreesFor::both, routing);
      const auto two = greedy_trees(again, 3, TreesFor::both, routing);
      ASSERT_EQ(one.has_value(), two.has_value());
      if (!one) continue;
      const auto all = all_of(*one), same = all_of(*two);
      ASSERT_EQ(all.size(), same.size());
      for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i].parent, same[i].parent);
        EXPECT_EQ(all[i].ways, same[i].ways);
        EXPECT_EQ(all[i].route, same[i].route);
      }
    }
}

// How many there are on the torus of Mittal et al. 2012; a packing that is worse fails here.
TEST(GreedyTrees, AreAsManyAsThePortsNearlyAllow) {
  std::mt19937 random(20127);
  const auto torus = torus_of({8, 8, 16});
  const struct {
    int members;
    Routing routing;
    double mean;
  } cases[] = {
      {31, Routing::minimal, 2.0},  {31, Routing::directed, 3.9},  {31, Routing::source, 5.5},
      {102, Routing::minimal, 2.0}, {102, Routing::directed, 4.2}, {102, Routing::source, 5.5},
      {512, Routing::minimal, 3.5}, {512, Routing::directed, 4.3}, {512, Routing::source, 4.8},
      {922, Routing::minimal, 4.3}, {922, Routing::directed, 4.5}, {922, Routing::source, 4.8}};
  const int subsets = is_thorough() ? 40 : 4;
  for (const auto& [count, routing, mean] : cases) {
    int found = 0;
    for (int i = 0; i < subsets; ++i) {
      const auto members = random_members(torus, count, random);
      const auto trees = greedy_trees(members, 0, TreesFor::broadcast, routing);
      ASSERT_GE(count_of(trees), 2) << text(members, 0);
      ASSERT_LE(use_of(members, trees->out).depth, 45);
      found += count_of(trees);
    }
    EXPECT_GE(found, mean * subsets) << count << " members";
  }
}

// --- what the packing looks at -------------------------------------------------------------------

TEST(Hops, KeepWhatTheyAreMadeOf) {
  for (const int other : {0, 1, Hop::kMostMembers - 1})
    for (const int port : {0, 5, 2 * Hop::kMostDimensions - 1})
      for (const std::uint8_t way : {0, 1, 2, 4, 5, 6})
        for (const int length : {1, 64, Hop::kLong, 70'000}) {
          const Hop hop = Hop(7, port, Way::numbered(way), length).with(other);
          ASSERT_EQ(hop.other(), other);
          ASSERT_EQ(hop.port(), port);
          ASSERT_EQ(hop.way().number(), way);
          ASSERT_EQ(hop.length(), std::min(length, Hop::kLong));
        }
}

/// The link at the child, as the torus says.
LinkId link_at_child(const TorusMembers& members, Flow flow, int parent, Hop hop) {
  const int above = members.host(parent), below = members.host(hop.other());
  std::vector<LinkId> route;
  members.torus().route(flow == Flow::out ? above : below, flow == Flow::out ? below : above,
                        hop.way(), [&](LinkId link) { route.push_back(link); });
  EXPECT_EQ(hop.length(), std::min(static_cast<int>(route.size()), Hop::kLong));
  return flow == Flow::out ? route.back() : route.front();
}

TEST(Hops, AreRoutesShortestFirst) {
  std::mt19937 random(20131);
  auto tori = small_tori();
  tori.insert(tori.end(), {torus_of({8, 6, 8}), torus_of({12, 20}, {true, false})});
  for (const auto& torus : tori)
    for (int i = 0; i < 4; ++i) {
      const auto members = random_members(torus, random_number(2, torus->hosts(), random), random);
      const MemberPlaces places(members);
      for (const Flow flow : {Flow::out, Flow::in})
        for (const bool ways : {false, true}) {
          const HopTable table(members, places, flow, ways);
          std::set<std::tuple<int, int, int>> seen;
          for (int parent = 0; parent < members.size(); ++parent) {
            int length = 1;
            for (const Hop hop : table.of(parent)) {
              const LinkId link = link_at_child(members, flow, parent, hop);
              ASSERT_EQ(hop.port(), 2 * torus->dimension(link) + (torus->sign(link) < 0))
                  << text(members, parent);
              ASSERT_LE(length, hop.length());
              length = hop.length();
              ASSERT_TRUE(seen.emplace(parent, hop.other(), hop.way().number()).second);
              ASSERT_TRUE(ways || hop.way() == Way{});
            }
          }
          ASSERT_EQ(seen.size(), table.size());
        }
    }
}

// They decide what memory a packing takes.
TEST(Hops, AreFewAndSmall) {
  static_assert(sizeof(Hop) == 4);
  std::mt19937 random(20132);
  const auto torus = torus_of({16, 16, 16});
  for (const int count : {129, 410, 2048, 4096}) {
    const auto members = random_members(torus, count, random);
    const MemberPlaces places(members);
    EXPECT_LE(HopTable(members, places, Flow::out, false).size(), 24U * count);
    EXPECT_LE(HopTable(members, places, Flow::in, true).size(), 36U * count);
  }
}

TEST(NamedRoutes, AreOfTheirMembersOnly) {
  EXPECT_TRUE(NamedRoutes().empty());
  NamedRoutes routes(3);
  EXPECT_FALSE(routes.empty());
  const std::vector<LinkId> two = {4, 9}, one = {7};
  routes.name(2, two);
  routes.name(0, one);
  EXPECT_TRUE(std::ranges::equal(routes[0], one));
  EXPECT_TRUE(routes[1].empty());
  EXPECT_TRUE(std::ranges::equal(routes[2], two));
  EXPECT_FALSE(routes == NamedRoutes(3));
}

TEST(FreeLinks, LeaveHostsThePortsThatTheyNeed) {
  const auto torus = torus_of({4});
  FreeLinks links(*torus);
  const LinkId up = torus->link(0, 0, 1), down = torus->link(2, 0, -1);  // both end at host 1
  for (const LinkId link : {up, down}) {
    EXPECT_EQ(links.to(link), 1);
    links.make_port(link, FreeLinks::kTo);
    links.make_port(link, FreeLinks::kTo);  // which they are already
  }
  links.reset();
  links.need(1, FreeLinks::kTo, 1);
  EXPECT_TRUE(links.may_take(up, 0, 0));
  links.take(up, FreeLinks::kMostOwners);
  EXPECT_FALSE(links.is_free(up));
  EXPECT_FALSE(links.may_take(down, 2, 0)) << "host 1 needs one";
  EXPECT_TRUE(links.may_take(down, 2, FreeLinks::kTo)) << "for this";
  links.give_back(1);
  EXPECT_FALSE(links.is_free(up));
  links.give_back(FreeLinks::kMostOwners);
  EXPECT_TRUE(links.may_take(down, 2, 0));
  links.take(down, 1);
  links.reset();
  EXPECT_TRUE(links.is_free(down));
}

// Every communicator has its trees made, on every rank.
TEST(GreedyTrees, TakeLimitedWork) {
  std::mt19937 random(20128);
  const auto torus = torus_of({16, 16, 16});
  constexpr std::int64_t kMost = 300'000;
  for (const int count : {31, 410, 2048, 4096})
    for (const Routing routing : {Routing::minimal, Routing::directed, Routing::source}) {
      const auto members = random_members(torus, count, random);
      Packing packing(members, 0, TreesFor::broadcast, routing);
      const auto trees = packing.grow(6, 0, true, kMost);
      expect_trees(members, 0, TreesFor::broadcast, trees, true);
      EXPECT_LT(packing.work(), 2 * kMost) << count;
      EXPECT_LT(packing.hops(), 35U * static_cast<std::size_t>(count) + 2000) << count;
      packing.grow(6, 1, false, packing.work() + 1000);
      EXPECT_LT(packing.work(), 3 * kMost) << count;
    }
  const auto large = torus_of({32, 32, 32});
  const auto many = random_members(large, 20000, random);
  EXPECT_FALSE(greedy_trees(many, 0, TreesFor::broadcast, Routing::minimal));
}

// --- the bound
// ------------------------------------------------------------------------------------

/// As it is defined, over all routes.
int slow_bound(const TorusMembers& members, int root, TreesFor use, bool directed) {
  const Torus& torus = members.torus();
  std::vector<std::set<LinkId>> leaves(static_cast<std::size_t>(members.size())), arrives = leaves;
  for (int from = 0; from < members.size(); ++from)
    for (int to = 0; to < members.size(); ++to)
      for (std::uint8_t way = 0; way < (directed ? 7 : 1); ++way) {
        if (from == to || way == 3) continue;
        std::vector<LinkId> route;
        torus.route(members.host(from), members.host(to), Way::numbered(way),
                    [&](LinkId link) { route.push_back(link); });
        leaves[static_cast<std::size_t>(from)].insert(route.front());
        arrives[static_cast<std::size_t>(to)].insert(route.back());
      }
  std::size_t least = 1000;
  for (int member = 0; member < members.size(); ++member) {
    const auto m = static_cast<std::size_t>(member);
    if (use != TreesFor::reduction)
      least = std::min(least, member == root ? leaves[m].size() : arrives[m].size());
    if (use != TreesFor::broadcast)
      least = std::min(least, member == root ? arrives[m].size() : leaves[m].size());
  }
  return static_cast<int>(least);
}

TEST(PortBound, IsThatOfTheLinksThatRoutesBeginAndEndWith) {
  std::mt19937 random(20129);
  for (const auto& torus : small_tori())
    for (int i = 0; i < 5; ++i) {
      const auto members =
          random_members(torus, random_number(2, std::min(40, torus->hosts() / 2), random), random);
      const int root = random_number(0, members.size() - 1, random);
      for (const bool directed : {false, true})
        for (const TreesFor use : {TreesFor::broadcast, TreesFor::reduction}) {
          const Routing routing = directed ? Routing::directed : Routing::minimal;
          ASSERT_EQ(port_bound(members, root, use, routing),
                    slow_bound(members, root, use, directed))
              << text(members, root);
        }
    }
}

TEST(PortBound, CountsLinksWhereRoutesAreFree) {
  const auto torus = torus_of({4, 4, 4}), mesh = torus_of({5, 4}, {false, false});
  std::vector<int> hosts(64);
  std::iota(hosts.begin(), hosts.end(), 0);
  const TorusMembers all(torus, hosts), corner(mesh, {0, 7, 19});
  EXPECT_EQ(port_bound(all, 0, TreesFor::broadcast, Routing::source), 6);
  // 384 links; each of 3 + 3 trees takes 63.
  EXPECT_EQ(port_bound(all, 0, TreesFor::both, Routing::source), 3);
  EXPECT_EQ(port_bound(corner, 1, TreesFor::broadcast, Routing::source), 2);
}

// --- the best
// -------------------------------------------------------------------------------------

TEST(BestTrees, ShareNoLinkWhateverTheMembers) {
  std::mt19937 random(20130);
  for (const auto& torus : small_tori())
    for (int i = 0; i < (is_thorough() ? 60 : 8); ++i) {
      const auto members = random_members(torus, random_number(1, torus->hosts(), random), random);
      const int root = random_number(0, members.size() - 1, random);
      for (const Routing routing : {Routing::minimal, Routing::directed, Routing::source})
        for (const TreesFor use : kAllUses) {
          const auto trees = make_trees(TreeKind::best, members, root, use, routing);
          expect_trees(members, root, use, trees, use != TreesFor::both);
          if (HasFatalFailure()) return;
          // Out and in at once meet at worst once, unless the routing allows better.
          ASSERT_LE(use_of(members, all_of(*trees)).most, routing == Routing::minimal ? 2 : 1)
              << text(members, root);
        }
      EXPECT_TRUE(make_trees(TreeKind::best, members, root, TreesFor::both, Routing::adaptive));
    }
}

// What is not made, because it could not be better, is not. (Both ways at once make_trees() is
// content with half as many as the root has links; a few members may have more.)
TEST(BestTrees, AreAsGoodAsThoseOfAnyKind) {
  const auto rate_of = [](const TorusMembers& members, const TorusTrees& trees) {
    return count_of(trees) / static_cast<double>(std::max(1, use_of(members, all_of(trees)).most));
  };
  std::mt19937 random(20133);
  for (const auto& torus : small_tori())
    for (int i = 0; i < (is_thorough() ? 40 : 5); ++i) {
      const auto members = random_members(torus, random_number(1, torus->hosts(), random), random);
      const int root = random_number(0, members.size() - 1, random);
      for (const Routing routing : {Routing::minimal, Routing::directed, Routing::source})
        for (const TreesFor use : {TreesFor::broadcast, TreesFor::reduction}) {
          const auto best = make_trees(TreeKind::best, members, root, use, routing);
          ASSERT_TRUE(best);
          for (const TreeKind kind : {TreeKind::multicolour, TreeKind::box, TreeKind::raster,
                                      TreeKind::snake, TreeKind::greedy}) {
            const auto trees = make_trees(kind, members, root, use, routing);
            ASSERT_TRUE(!trees || rate_of(members, *trees) <= rate_of(members, *best))
                << kTreeKindNames[static_cast<std::size_t>(kind)] << text(members, root);
          }
        }
    }
}

TEST(BestTrees, AreOneWhereThereIsOneMember) {
  const TorusMembers alone(torus_of({4, 4}), {5});
  for (const TreesFor use : kAllUses) {
    const auto trees = make_trees(TreeKind::best, alone, 0, use, Routing::minimal);
    expect_trees(alone, 0, use, trees, true);
  }
}

}  // namespace
}  // namespace unisono
