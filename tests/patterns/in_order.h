// What makes nodes a tree in rank order.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "patterns/two_tree.h"

namespace unisono {

using NodeOf = std::function<InOrderNode(int)>;

/// The subtree of `position` in rank order, as its nodes say.
inline void collect(const NodeOf& node_of, int position, std::vector<int>& into) {
  const InOrderNode node = node_of(position);
  for (const int child : {node.left, node.right})
    EXPECT_TRUE(child == 0 || node_of(child).parent == position);
  if (node.left != 0) collect(node_of, node.left, into);
  into.push_back(position);
  if (node.right != 0) collect(node_of, node.right, into);
}

/// The nodes of 1..size are one tree, and every subtree is the interval that its node says.
inline void expect_in_order(int size, const NodeOf& node_of) {
  for (int x = 1; x <= size; ++x) {
    const InOrderNode node = node_of(x);
    std::vector<int> subtree, interval;
    collect(node_of, x, subtree);
    for (int i = node.first; i <= node.last; ++i) interval.push_back(i);
    ASSERT_EQ(subtree, interval) << "of " << x << " in " << size;
    ASSERT_EQ(node.parent == 0, node.first == 1 && node.last == size);
  }
}

}  // namespace unisono
