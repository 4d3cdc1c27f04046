// What makes the two trees trees in rank order that share the work, and whole broadcasts.
#include "patterns/two_tree.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "tests/patterns/broadcast_rounds.h"
#include "tests/patterns/in_order.h"

namespace unisono {
namespace {

TEST(TwoTrees, SubtreesAreIntervalsAndNobodyIsInnerInBoth) {
  for (int size = 1; size <= 400; ++size) {
    const TwoTrees trees(size);
    for (const int tree : {0, 1}) {
      expect_in_order(size, [&](int x) { return trees.node(tree, x); });
      ASSERT_EQ(trees.node(tree, trees.root(tree)).parent, 0);
    }
    if (HasFatalFailure()) return;
    for (int x = 1; x <= size; ++x) {
      const InOrderNode a = trees.node(0, x), b = trees.node(1, x);
      ASSERT_FALSE((a.left != 0 || a.right != 0) && (b.left != 0 || b.right != 0)) << x;
    }
  }
}

TEST(TwoTreeBroadcast, DeliversEveryBlockOnceWithOneMessageAtATime) {
  for (int p = 2; p <= 400; ++p) {
    const Count levels = std::bit_width(static_cast<unsigned>(p));
    for (const Count n : p <= 130 ? std::vector<Count>{1, 2, 3, 8} : std::vector<Count>{3})
      expect_broadcast<TwoTreeBroadcast>(p, n, n - 1 + 2 * levels);
    if (HasFatalFailure()) return;
  }
}

TEST(TwoTreeBroadcast, NothingToDo) {
  EXPECT_EQ(TwoTreeBroadcast(1, 0, 5).rounds(), 0);
  EXPECT_EQ(TwoTreeBroadcast(7, 3, 0).rounds(), 0);
}

}  // namespace
}  // namespace unisono
