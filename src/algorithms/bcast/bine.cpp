// Bine tree: a binomial tree whose messages take shorter ways, so that of an oversubscribed network
// they use fewer of the links at the top.
// Rounds q, q m bytes at the root; T = q (alpha + beta m). For short messages where ranks with near
// numbers are near to each other. Any p, any root.
// Source: De Sensi et al., Bine Trees: Enhancing Collective Operations by Optimizing Communication
// Locality (2025), arXiv 2508.17311, for powers of two; other sizes: own (tree.h).
#include "algorithms/algorithms.h"
#include "patterns/phases.h"

namespace unisono::bcast {

void bine(Builder& b) {
  const int top = bine_top(b.size());
  const Rotation order = Rotation::around(b.size(), b.args().root, top);
  tree_bcast(b, order, bine_node(order.position(b.rank()), b.size(), top), b.output());
}

}  // namespace unisono::bcast
