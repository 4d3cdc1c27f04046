// Two binary trees on the same positions, each of which is an inner node of at most one of them:
// with half of a vector through each tree, every position sends about as much as it receives.
// Subtrees of both are intervals, so that sums keep rank order, for any number of ranks.
//
// Source: Sanders, Speck, Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and
// scan (2009). There an odd number of positions is served by a shifted tree, which does not keep
// the order; here by the mirrored tree with one position more, which is a leaf and left out.
#pragma once
#include <vector>

#include "patterns/broadcast_round.h"

namespace unisono {

/// Positions; 0: nobody.
struct InOrderNode {
  int parent = 0, left = 0, right = 0;
  int first = 0, last = 0;  ///< the subtree is [first, last]
};

/// Tree 0 is the in-order binary tree on the positions 1..size, in which odd positions are leaves
/// and those of height h are odd multiples of 2^h; tree 1 is its mirror image. O(log size) to ask.
class TwoTrees {
 public:
  explicit TwoTrees(int size) : size_(size) {}

  int size() const { return size_; }
  int root(int tree) const;
  InOrderNode node(int tree, int position) const;
  /// The other child of the parent, or 0.
  int sibling(int tree, int position) const;

 private:
  int mirrored(int position) const { return size_ + size_ % 2 + 1 - position; }

  int size_;
};

/// What one position does when position 0 broadcasts n blocks through the two trees on the others:
/// the even ones through tree 0, the odd ones through tree 1. Every edge has one of two colours,
/// and is used in every other round, so that nobody sends or receives two blocks in a round: edges
/// that leave one position differ, and edges that enter one. Block i leaves position 0 in round i.
/// Read backwards, with senders and receivers exchanged, it is a reduction. O(size) time, to find
/// the colours.
class TwoTreeBroadcast {
 public:
  TwoTreeBroadcast(int size, int position, Count blocks);

  /// Up to the last in which this position does something: at most n - 1 + 2 (1 + log2 size).
  Count rounds() const { return rounds_; }
  BroadcastRound round(Count i) const;

 private:
  /// Moves block `tree` in round `first`, the block two further two rounds later.
  struct Stream {
    int peer = 0;
    int tree = 0;
    Count first = 0;
  };

  void add(std::vector<Stream>& streams, const Stream& stream);
  Count block(const Stream& stream, Count round) const;

  Count blocks_;
  Count rounds_ = 0;
  std::vector<Stream> sends_, receives_;  // at most two each
};

}  // namespace unisono
