// Two trees, for scan and exscan: half of the segments each through one of two in-order trees, in
// which no rank has children in both. The sums of subtrees come up, what lies before them goes
// down; a rank keeps the sum of its left subtree and itself in the output meanwhile.
// Rounds about 2 n + 8 log2 p, bytes 2 m per rank; T = 2 beta m + O(alpha log p + sqrt(alpha beta m
// log p)). Twice the bytes of the chain, without its start-up. Scratch: 2 (`window` + 1) segments;
// exscan in place: a vector more. Any p, rank order kept. Source: Sanders, Speck, Traeff, Two-tree
// algorithms for full bandwidth broadcast, reduction and scan (2009).
#include <bit>
#include "algorithms/algorithms.h"
#include "patterns/in_order_scan.h"

namespace unisono::scan {

void two_tree(Builder& b) {
  const TwoTrees trees(b.size());
  const InOrderNode nodes[] = {trees.node(0, b.rank() + 1), trees.node(1, b.rank() + 1)};
  in_order_scan(b, nodes,
                2 * static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(b.size()))));
}

}  // namespace unisono::scan
