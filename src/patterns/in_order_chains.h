// Chains of ranks as the nodes of a binary tree, in rank order.
//
// Source: after Sanders, Sibeyn, A bandwidth latency tradeoff for broadcast and reduction (2000;
// 2003), whose tree does not keep the order of ranks.
#pragma once
#include "patterns/two_tree.h"

namespace unisono {

/// Group g is the positions ((g - 1) r, g r], cut at `size`; the groups are an in-order tree. One
/// member of a group, its top, has the edge to the group above; on either side of it the members
/// are a chain, to whose end the tree of that side is joined. So this is an in-order tree of
/// positions, one for each choice of tops. A top has one edge more than the other members: by turns
/// everybody has it. Where nobody lies before or behind the tree below a group, the top is at that
/// end: then nothing goes through the group twice, and up to three groups are one chain.
struct InOrderChains {
  int size;
  int radix;  ///< r

  int groups() const { return (size - 1) / radix + 1; }
  /// 0 <= turn < radix. O(log size).
  InOrderNode node(int position, int turn) const;
};

}  // namespace unisono
