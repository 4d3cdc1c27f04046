// What makes the two trees trees in rank order that share the work, and whole broadcasts.
#include "patterns/two_tree.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "tests/patterns/broadcast_rounds.h"

namespace unisono {
namespace {

/// The subtree of `position` in rank order, as its nodes say.
void collect(const TwoTrees& trees, int tree, int position, std::vector<int>& into) {
  const InOrderNode node = trees.node(tree, position);
  for (const int child : {node.left, node.right})
    EXPECT_TRUE(child == 0 || trees.node(tree, child).parent == position);
  if (node.left != 0) collect(trees, tree, node.left, into);
  into.push_back(position);
  if (node.right != 0) collect(trees, tree, node.right, into);
}

std::vector<int> interval(int first, int last) {
  std::vector<int> all;
  for (int i = first; i <= last; ++i) all.push_back(i);
  return all;
}

TEST(TwoTrees, SubtreesAreIntervalsAndNobodyIsInnerInBoth) {
  for (int size = 1; size <= 400; ++size) {
    const TwoTrees trees(size);
    for (const int tree : {0, 1})
      for (int x = 1; x <= size; ++x) {
        const InOrderNode node = trees.node(tree, x);
        std::vector<int> subtree;
        collect(trees, tree, x, subtree);
        ASSERT_EQ(subtree, interval(node.first, node.last)) << "of " << x << " in " << size;
        ASSERT_EQ(node.parent == 0, x == trees.root(tree));
        ASSERT_EQ(node.parent == 0, node.first == 1 && node.last == size);
      }
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
