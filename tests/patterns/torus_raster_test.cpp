// Raster trees share no link, whatever the members; and the snake, which does, where it does.
#include "tests/patterns/random_members.h"
#include "tests/thorough.h"

namespace unisono {
namespace {

/// All wrap around in which members differ, as far as one can see from the sizes.
bool is_torus(const Torus& torus) {
  for (int d = 0; d < torus.dimensions(); ++d)
    if (!torus.wraps(d) && torus.size(d) > 1) return false;
  return true;
}

int sum_of_sizes(const Torus& torus, int divisor) {
  int sum = 0;
  for (int d = 0; d < torus.dimensions(); ++d)
    sum += divisor == 1 ? torus.size(d) - 1 : torus.size(d) / divisor;
  return sum;
}

void expect_rasters(const TorusMembers& members, int root) {
  const Torus& torus = members.torus();
  for (const Routing routing : {Routing::minimal, Routing::directed, Routing::source})
    for (const TreesFor use : kAllUses) {
      const bool forced = routing != Routing::minimal && is_torus(torus);
      const auto trees = raster_trees(members, root, use, routing);
      expect_trees(members, root, use, trees, forced || use != TreesFor::both);
      if (testing::Test::HasFatalFailure()) return;
      const auto all = all_of(*trees);
      ASSERT_TRUE(!forced || all.size() == 2) << text(members, root);
      const bool half = routing == Routing::minimal && is_torus(torus);
      ASSERT_LE(use_of(members, all).depth, sum_of_sizes(torus, half ? 2 : 1))
          << text(members, root);
    }
}

TEST(RasterTrees, ShareNoLinkWhateverTheMembers) {
  std::mt19937 random(20121);
  for (const auto& torus : small_tori())
    for (int i = 0; i < (is_thorough() ? 300 : 60); ++i) {
      const auto members = random_members(torus, random_number(1, torus->hosts(), random), random);
      expect_rasters(members, random_number(0, members.size() - 1, random));
      if (HasFatalFailure()) return;
    }
}

TEST(RasterTrees, ShareNoLinkForAnySubsetOfSmallTori) {
  const int stride = is_thorough() ? 1 : 7;
  for (const auto& torus : {torus_of({8}), torus_of({3, 4}), torus_of({4, 2}), torus_of({2, 2, 3}),
                            torus_of({4, 3}, {false, true})})
    for (int subset = 1; subset < 1 << torus->hosts(); subset += stride) {
      std::vector<int> hosts;
      for (int host = 0; host < torus->hosts(); ++host)
        if ((subset >> host & 1) != 0) hosts.push_back(host);
      const TorusMembers members(torus, hosts);
      expect_rasters(members, subset % members.size());
      if (HasFatalFailure()) return;
    }
}

// That both at once meet is a fact, so that nobody takes them for disjoint.
TEST(RasterTrees, OutAndInMeetOnShortestRoutes) {
  std::mt19937 random(20122);
  const auto torus = torus_of({8, 8});
  int meet = 0;
  for (int i = 0; i < 100; ++i) {
    const auto members = random_members(torus, random_number(2, 64, random), random);
    const auto trees = raster_trees(members, 0, TreesFor::both, Routing::minimal);
    meet += use_of(members, all_of(*trees)).most == 2;
  }
  EXPECT_GT(meet, 0);
  EXPECT_LT(meet, 60);
}

TEST(RasterTrees, KeepToNeighboursWhereRoutesAreUnknown) {
  const auto ring = torus_of({8});
  const TorusMembers together(ring, {0, 1, 2, 7}), apart(ring, {0, 1, 3});
  EXPECT_TRUE(raster_trees(together, 0, TreesFor::broadcast, Routing::adaptive));
  EXPECT_FALSE(raster_trees(apart, 0, TreesFor::broadcast, Routing::adaptive));
}

TEST(SnakeTrees, ShareNoLinkOnMeshesWhateverTheRoot) {
  std::mt19937 random(20123);
  for (const auto& torus : small_tori()) {
    std::vector<int> sizes;
    for (int d = 0; d < torus->dimensions(); ++d) sizes.push_back(torus->size(d));
    const auto mesh = torus_of(sizes, std::vector<bool>(sizes.size(), false));
    for (int i = 0; i < (is_thorough() ? 300 : 60); ++i) {
      const auto members = random_members(mesh, random_number(1, mesh->hosts(), random), random);
      const int root = random_number(0, members.size() - 1, random);
      for (const TreesFor use : kAllUses) {
        const auto trees = snake_trees(members, root, use, Routing::minimal);
        expect_trees(members, root, use, trees, use != TreesFor::both);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Row 1 is taken downwards: (1,7), (1,5), (1,0). The message that enters it comes up past (1,5) and
// (1,6), and so does the one from (1,5) to (1,0), which goes round the end.
TEST(SnakeTrees, MeetOnATorusWhereARowGoesRoundItsEnd) {
  const auto hosts = [](const Torus& torus) {
    std::vector<int> numbers;
    for (const auto& at : std::vector<std::vector<int>>{{0, 5}, {1, 7}, {1, 5}, {1, 0}})
      numbers.push_back(torus.host(at));
    return numbers;
  };
  const auto torus = torus_of({2, 8}), mesh = torus_of({2, 8}, {false, false});
  const TorusMembers members(torus, hosts(*torus)), on_mesh(mesh, hosts(*mesh));
  const int root = members.member(torus->host(std::vector<int>{0, 5}));
  const auto trees =
      make_trees(TreeKind::snake, members, root, TreesFor::broadcast, Routing::minimal);
  expect_trees(members, root, TreesFor::broadcast, trees, false);
  const LinkUse links = use_of(members, trees->out);
  EXPECT_EQ(links.most, 2);
  EXPECT_EQ(torus->text_of_link(links.busiest), "(1,5) up in dimension 1");
  const auto safe = snake_trees(on_mesh, root, TreesFor::broadcast, Routing::minimal);
  EXPECT_EQ(use_of(on_mesh, safe->out).most, 1);
  const auto best =
      make_trees(TreeKind::best, members, root, TreesFor::broadcast, Routing::minimal);
  EXPECT_EQ(use_of(members, best->out).most, 1);
}

TEST(SnakeTrees, MeetOnSomeTori) {
  std::mt19937 random(20124);
  const auto torus = torus_of({6, 5, 4});
  int meet = 0;
  for (int i = 0; i < 100; ++i) {
    const auto members = random_members(torus, random_number(2, 120, random), random);
    const auto trees = snake_trees(members, 0, TreesFor::broadcast, Routing::minimal);
    meet += use_of(members, trees->out).most > 1;
  }
  EXPECT_GT(meet, 0);
}

}  // namespace
}  // namespace unisono
