#include "patterns/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <set>

namespace unisono {
namespace {

/// Subtrees are intervals that hold their root, children's are disjoint and, with the root, all.
void expect_tree(int size, int top) {
  for (int rank = 0; rank < size; ++rank) {
    const TreeNode node = bine_node(rank, size, top);
    ASSERT_EQ(node.parent == -1, rank == top);
    ASSERT_LE(node.begin, rank);
    ASSERT_LT(rank, node.end);
    int begin = rank, end = rank + 1;
    for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
      ASSERT_TRUE(child->begin == end || child->end == begin) << "not next to what is nearer";
      (child->begin == end ? end : begin) = child->begin == end ? child->end : child->begin;
      const TreeNode below = bine_node(child->rank, size, top);
      ASSERT_EQ(below.parent, rank);
      ASSERT_EQ(below.begin, child->begin);
      ASSERT_EQ(below.end, child->end);
    }
    ASSERT_EQ(begin, node.begin);
    ASSERT_EQ(end, node.end);
  }
}

TEST(BineTree, SpansAllRanksByIntervals) {
  for (int size = 1; size <= 70; ++size)
    for (int top = 0; top < size; ++top) expect_tree(size, top);
}

TEST(BineTree, IsAsDeepAsABinomialTree) {
  for (int size = 1; size <= 300; ++size)
    for (const int top : {0, bine_top(size), size / 2, size - 1})
      for (int rank = 0; rank < size; ++rank) {
        int depth = 0;
        for (int at = rank; at != top; at = bine_node(at, size, top).parent) ++depth;
        ASSERT_LE(depth, std::bit_width(static_cast<unsigned>(size - 1))) << size << " " << top;
      }
}

/// The digits of a number to the base -2, as bits.
unsigned negabinary(int value) {
  constexpr unsigned kOdd = 0xAAAAAAAAU;
  return (kOdd + static_cast<unsigned>(value)) ^ kOdd;
}

// The paper's tree: with j = q, ..., 1 whoever has the message sends it to the rank whose last j
// digits to the base -2 are the other ones.
TEST(BineTree, IsThatOfThePaperForPowersOfTwo) {
  for (const int size : {2, 4, 8, 16, 32, 64, 128, 256}) {
    const int q = std::bit_width(static_cast<unsigned>(size)) - 1, top = bine_top(size);
    // Ranks as the paper counts them, from the root on; mirrored where its interval has the root
    // beyond the middle.
    const int least = -(q % 2 == 0 ? 2 * (size - 1) / 3 : (size - 2) / 3);
    const auto place = [&](int value) {
      return q % 2 == 0 ? size - 1 - (value - least) : value - least;
    };
    std::set<std::pair<int, int>> expected, found;
    for (int value = least; value < least + size; ++value) {
      const unsigned code = negabinary(value);
      ASSERT_LT(code, static_cast<unsigned>(size));
      const int joined = std::countr_zero(code ^ (code >> 1)) + 1;  // by step j; the root never
      if (code == 0) continue;
      const unsigned parent = code ^ ((1U << joined) - 1);
      for (int other = least; other < least + size; ++other)
        if (negabinary(other) == parent) expected.insert({place(value), place(other)});
    }
    for (int rank = 0; rank < size; ++rank)
      if (rank != top) found.insert({rank, bine_node(rank, size, top).parent});
    EXPECT_EQ(found, expected) << size;
  }
}

TEST(BineTree, TakesShortWays) {
  std::vector<int> ways;
  for (const auto& child : bine_node(bine_top(128), 128, bine_top(128)).children)
    ways.push_back(std::abs(child.rank - bine_top(128)));
  EXPECT_EQ(ways, (std::vector{43, 21, 11, 5, 3, 1, 1}));
}

}  // namespace
}  // namespace unisono
