// Gather to rank 0 and broadcast, both on a binomial tree.
// Rounds 2 q, bytes (p - 1) b into and q p b out of rank 0; T = 2 q alpha + (p - 1 + q p) beta b.
// Few messages in all, 2 (p - 1): for short blocks with more ranks than cores. Any p.
// Source: textbook.
#include "algorithms/algorithms.h"
#include "patterns/blocks.h"
#include "patterns/gather_tree.h"
#include "patterns/phases.h"

namespace unisono::allgather {

void gather_bcast(Builder& b) {
  constexpr int kBinomial = 2;
  const Rotation order{b.size()};
  GatheredOutput output(b, order);
  gather_tree(b, knomial_node(b.rank(), b.size(), kBinomial), order.root,
              [&](int from, int to) { return output.range(from, to); });
  tree_bcast(b, order, kBinomial, output.range(0, b.size()));
  output.finish();
}

}  // namespace unisono::allgather
