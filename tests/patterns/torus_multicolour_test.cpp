// Grids of members: as many trees as there can be, no link with two messages, whatever the shape,
// the planes that are missing, and the root.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/patterns/torus_forests.h"

namespace unisono {
namespace {

/// Trees that a grid of these lengths can have: those that its farthest corner can receive.
int corner(const std::vector<int>& lengths, const std::vector<bool>& rings) {
  int trees = 0;
  for (std::size_t d = 0; d < lengths.size(); ++d)
    if (lengths[d] > 1) trees += rings[d] ? 2 : 1;
  return std::max(trees, 1);
}

const std::vector<std::vector<int>> kShapes = {
    {1},       {2},       {3},       {9},       {1, 1},       {2, 2},       {2, 3},
    {3, 3},    {4, 1},    {4, 4},    {5, 3},    {8, 8},       {7, 6},       {2, 2, 2},
    {3, 3, 3}, {4, 4, 2}, {2, 5, 2}, {4, 4, 4}, {5, 1, 3},    {5, 7, 3},    {3, 2, 4},
    {6, 5, 4}, {1, 2, 1}, {2, 2, 9}, {8, 4, 2}, {2, 2, 2, 2}, {3, 3, 3, 3}, {4, 2, 3, 2},
};

TEST(Multicolour, WholeToriHaveAllTreesFromAnyRootUnderAnyRouting) {
  for (const auto& shape : kShapes) {
    const auto torus = std::make_shared<const Torus>(shape);
    const auto members = all_hosts(torus);
    std::vector<bool> rings;
    for (const int n : shape) rings.push_back(n > 2);
    for (const Routing routing : kRoutings)
      for (int root = 0; root < members.size(); root += 1 + members.size() / 12) {
        const auto made = multicolour_trees(members, root, TreesFor::broadcast, routing);
        ASSERT_TRUE(made);
        ASSERT_EQ(std::ssize(made->out), corner(shape, rings));
        expect_contention_free(members, *made, root, routing, TreesFor::broadcast);
        // Every link is used but those into the root, and, where all are rings, no link is left.
        if (corner(shape, rings) == 2 * torus->dimensions()) {
          ASSERT_EQ(use_of(members, made->out).used,
                    (members.size() - 1) * 2 * torus->dimensions());
        }
        expect_shallow(members, *made);
      }
    if (HasFatalFailure()) return;
  }
}

TEST(Multicolour, MeshesHaveATreeForEachDimension) {
  for (const auto& shape : kShapes)
    for (unsigned wraps = 0; wraps < 1U << shape.size(); ++wraps) {
      std::vector<bool> rings, asked;
      for (std::size_t d = 0; d < shape.size(); ++d) {
        asked.push_back((wraps >> d & 1U) != 0);
        rings.push_back(asked.back() && shape[d] > 2);
      }
      const auto members = all_hosts(std::make_shared<const Torus>(shape, asked));
      for (int root = 0; root < members.size(); root += 1 + members.size() / 7) {
        const auto made = multicolour_trees(members, root, TreesFor::broadcast, Routing::adaptive);
        ASSERT_TRUE(made);
        ASSERT_EQ(std::ssize(made->out), corner(shape, rings));
        expect_contention_free(members, *made, root, Routing::adaptive, TreesFor::broadcast);
        expect_shallow(members, *made);
      }
      if (HasFatalFailure()) return;
    }
}

TEST(Multicolour, PlanesMissingInAnyDimensionsCostNoTreeWhereTheWayIsForced) {
  std::mt19937 random(20120225);
  for (int trial = 0; trial < 600; ++trial) {
    const auto torus =
        std::make_shared<const Torus>(kShapes[static_cast<std::size_t>(trial) % kShapes.size()]);
    const auto coordinates = some_coordinates(*torus, random);
    const auto members = all_combinations(torus, coordinates);
    std::vector<int> lengths;
    std::vector<bool> rings, short_rings;
    for (int d = 0; d < torus->dimensions(); ++d) {
      const auto& at = coordinates[static_cast<std::size_t>(d)];
      lengths.push_back(static_cast<int>(at.size()));
      rings.push_back(torus->wraps(d));
      int widest = at.front() + torus->size(d) - at.back();
      for (std::size_t i = 1; i < at.size(); ++i) widest = std::max(widest, at[i] - at[i - 1]);
      short_rings.push_back(torus->wraps(d) && 2 * widest < torus->size(d));
    }
    bool paths = false;
    for (std::size_t d = 0; d < rings.size(); ++d) paths |= lengths[d] > 1 && !rings[d];
    for (std::size_t d = 0; d < rings.size(); ++d)
      if (paths && lengths[d] == 2) rings[d] = false;  // one tree less than there might be
    const int root = any_of(members.size(), random);
    for (const Routing routing : {Routing::directed, Routing::source, Routing::minimal}) {
      const auto made = multicolour_trees(members, root, TreesFor::broadcast, routing);
      ASSERT_TRUE(made);
      ASSERT_EQ(std::ssize(made->out),
                corner(lengths, routing == Routing::minimal ? short_rings : rings));
      expect_contention_free(members, *made, root, routing, TreesFor::broadcast);
      expect_shallow(members, *made);
    }
    if (HasFatalFailure()) return;
  }
}

TEST(Multicolour, ReductionsAndBothAtOnce) {
  std::mt19937 random(31);
  for (int trial = 0; trial < 400; ++trial) {
    const auto torus =
        std::make_shared<const Torus>(kShapes[static_cast<std::size_t>(trial) % kShapes.size()]);
    const auto coordinates = some_coordinates(*torus, random);
    const auto members = trial % 3 == 0 ? all_hosts(torus) : all_combinations(torus, coordinates);
    const int root = any_of(members.size(), random);
    for (const Routing routing : {Routing::directed, Routing::source, Routing::minimal}) {
      const auto out = multicolour_trees(members, root, TreesFor::broadcast, routing);
      const auto in = multicolour_trees(members, root, TreesFor::reduction, routing);
      const auto both = multicolour_trees(members, root, TreesFor::both, routing);
      ASSERT_TRUE(out && in && both);
      ASSERT_EQ(out->out.size(), in->in.size());
      expect_contention_free(members, *in, root, routing, TreesFor::reduction);
      expect_contention_free(members, *both, root, routing, TreesFor::both);
      ASSERT_EQ(both->out.size(), both->in.size());
      if (trial % 3 == 0) {
        ASSERT_GE(std::ssize(both->out),
                  std::count_if(coordinates.begin(), coordinates.end(),
                                [&, d = 0](const auto&) mutable { return torus->wraps(d++); }));
      }
    }
    if (HasFatalFailure()) return;
  }
}

// What a rank makes at a communicator's creation. Steps are a few for each entry of the trees.
TEST(Multicolour, LargeTori) {
  for (const auto& [shape, most_bytes] :
       {std::pair<std::vector<int>, std::size_t>{{16, 16, 16}, 1 << 20},
        {{32, 32, 64}, 4 << 20},
        {{8, 8, 16, 16, 2}, 4 << 20}}) {
    const auto torus = std::make_shared<const Torus>(shape);
    const auto members = all_hosts(torus);
    const int root = members.size() / 3;
    const auto made = multicolour_trees(members, root, TreesFor::broadcast, Routing::minimal);
    ASSERT_TRUE(made);
    ASSERT_EQ(std::ssize(made->out), shape.back() == 2 ? 9 : 6);
    expect_contention_free(members, *made, root, Routing::minimal, TreesFor::broadcast);
    std::size_t bytes = 0;
    for (const TorusTree& tree : made->out)
      bytes += tree.parent.capacity() * sizeof(int) + tree.ways.capacity();
    EXPECT_LT(bytes, most_bytes);
  }
}

TEST(Multicolour, NothingForWhatIsNoGrid) {
  const auto torus = std::make_shared<const Torus>(std::vector{4, 4});
  const TorusMembers bent(torus, {0, 1, 5});
  for (const Routing routing : kRoutings)
    EXPECT_FALSE(multicolour_trees(bent, 0, TreesFor::broadcast, routing));
  // Three of six hosts, each two hops from the next: no one knows which way the network takes.
  const TorusMembers apart(std::make_shared<const Torus>(std::vector{6}), {0, 2, 4});
  EXPECT_FALSE(multicolour_trees(apart, 0, TreesFor::broadcast, Routing::adaptive));
  EXPECT_TRUE(multicolour_trees(apart, 0, TreesFor::broadcast, Routing::minimal));
}

// Four neighbours of a ring of eight in each half: groups that use no link of each other.
TEST(Box, NeighboursDoNotDisturbEachOther) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 300; ++trial) {
    const auto torus =
        std::make_shared<const Torus>(kShapes[static_cast<std::size_t>(trial) % kShapes.size()]);
    // The torus cut in two across one dimension, at two places if it is a ring.
    const int d = any_of(torus->dimensions(), random), n = torus->size(d);
    const int begin = torus->wraps(d) ? any_of(n, random) : 0, length = 1 + any_of(n, random);
    std::vector<std::vector<int>> halves[2];
    for (const int half : {0, 1})
      for (int e = 0; e < torus->dimensions(); ++e) {
        halves[half].emplace_back();
        for (int c = 0; c < torus->size(e); ++c)
          if (e != d || ((c - begin + n) % n < length) == (half == 0))
            halves[half].back().push_back(c);
      }
    std::vector<bool> used(static_cast<std::size_t>(torus->links()));
    for (const auto& half : halves) {
      if (half[static_cast<std::size_t>(d)].empty()) continue;
      const auto members = all_combinations(torus, half);
      const int root = any_of(members.size(), random);
      for (const TreesFor use : {TreesFor::broadcast, TreesFor::both}) {
        const auto made = box_trees(members, root, use, Routing::adaptive);
        ASSERT_TRUE(made);
        expect_contention_free(members, *made, root, Routing::adaptive, use);
        std::vector<int> lengths;
        std::vector<bool> rings;
        for (int e = 0; e < torus->dimensions(); ++e) {
          lengths.push_back(static_cast<int>(half[static_cast<std::size_t>(e)].size()));
          rings.push_back(torus->wraps(e) && lengths.back() == torus->size(e));
        }
        if (use == TreesFor::broadcast) {
          ASSERT_EQ(std::ssize(made->out), corner(lengths, rings));
        }
        for (const auto& forest : {made->out, made->in})
          for (const auto& tree : forest)
            for (int member = 0; member < members.size(); ++member)
              for_links(members, tree, member, [&](LinkId link) {
                ASSERT_GE(members.member(torus->from(link)), 0) << torus->text_of_link(link);
                ASSERT_GE(members.member(torus->to(link)), 0) << torus->text_of_link(link);
              });
      }
    }
    if (HasFatalFailure()) return;
  }
}

TEST(Box, NothingForWhatIsNoBox) {
  const auto torus = std::make_shared<const Torus>(std::vector{8});
  EXPECT_TRUE(box_trees(TorusMembers(torus, {7, 0, 1}), 0, TreesFor::broadcast, Routing::minimal));
  EXPECT_FALSE(box_trees(TorusMembers(torus, {0, 2, 3}), 0, TreesFor::broadcast, Routing::minimal));
  const auto line = std::make_shared<const Torus>(std::vector{8}, std::vector{false});
  EXPECT_FALSE(box_trees(TorusMembers(line, {7, 0, 1}), 0, TreesFor::broadcast, Routing::minimal));
}

TEST(TorusForestTests, FindWhatIsBroken) {
  const auto torus = std::make_shared<const Torus>(std::vector{4, 4});
  const auto members = all_hosts(torus);
  const auto made = *multicolour_trees(members, 5, TreesFor::broadcast, Routing::directed);
  ASSERT_EQ(contention_of(members, made, Routing::directed, TreesFor::broadcast), "");
  // A host that receives from its neighbour on the other side.
  auto bent = made;
  bent.out[0].parent[0] = torus->neighbour(0, 0, -1) == bent.out[0].parent[0]
                              ? torus->neighbour(0, 1, -1)
                              : torus->neighbour(0, 0, -1);
  EXPECT_NE(contention_of(members, bent, Routing::directed, TreesFor::broadcast), "");
  // Two trees of the same links.
  auto twice = made;
  twice.out[1] = twice.out[0];
  EXPECT_NE(contention_of(members, twice, Routing::directed, TreesFor::broadcast), "");
  // A circle.
  auto circle = made;
  circle.out[0].parent[0] = 1;
  circle.out[0].parent[1] = 0;
  EXPECT_TRUE(flaw_of(members, circle.out, 5));
  // A tree whose hops are right upwards only, where nobody can ask for that.
  const TorusMembers pair(std::make_shared<const Torus>(std::vector{6}), {0, 1});
  const auto forced = *multicolour_trees(pair, 0, TreesFor::broadcast, Routing::directed);
  EXPECT_EQ(contention_of(pair, forced, Routing::directed, TreesFor::broadcast), "");
  EXPECT_NE(contention_of(pair, forced, Routing::minimal, TreesFor::broadcast), "");
}

}  // namespace
}  // namespace unisono
