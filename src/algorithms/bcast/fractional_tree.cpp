// Fractional tree: a binary tree whose nodes are chains of r ranks; the members of a chain take
// turns to feed the first child, and the last one feeds the second.
// Rounds about (1 + 1/r)(n + 2 r log2 (p/r)), bytes (1 + 1/r) m sent per rank; T = (1 + 1/r) beta m
// + O(r alpha log p): between the binary tree (r = 1, 2 m) and the chain (r = p). For few segments;
// circulant and two_tree need no more rounds at either end. Any p, any root.
// Source: Sanders, Sibeyn, A bandwidth latency tradeoff for broadcast and reduction (2000; 2003).
#include "patterns/fractional_tree.h"
#include "algorithms/algorithms.h"
#include "patterns/partition.h"
#include "patterns/rotation.h"

namespace unisono::bcast {

void fractional_tree(Builder& b) {
  const Rotation order{b.size(), b.args().root};
  const FractionalTree tree{b.size(), static_cast<int>(b.args().params.radix)};
  const int position = order.position(b.rank());
  Count i = 0;
  for (const Slice segment : segments(b.output(), b.args())) {
    if (position > 0) b.recv(order.rank(tree.source(position, i)), segment);
    for (const int target : tree.targets(position, i)) b.send(order.rank(target), segment);
    ++i;
  }
}

}  // namespace unisono::bcast
