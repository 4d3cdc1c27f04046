// Scatter and allgather: the root scatters p blocks down a binomial tree, a ring collects them.
// Rounds q + p - 1, bytes about 2 m (p - 1) / p; T = (q + p - 1) alpha + 2 (p - 1) / p beta m.
// Ranks do not receive again what the scatter left with them. For long messages and moderate p,
// without a parameter to choose; circulant and chain need half the bytes. Any p, any root. Source:
// van de Geijn, On Global Combine Operations (1994); Thakur, Rabenseifner, Gropp (2005).
#include "algorithms/algorithms.h"
#include "patterns/gather_tree.h"
#include "patterns/phases.h"

namespace unisono::bcast {

void scatter_allgather(Builder& b) {
  const Rotation order{b.size(), b.args().root};
  const Partition blocks(b.output(), order.size);
  const int position = order.position(b.rank());
  const TreeNode node = knomial_node(position, order.size, 2);
  scatter_tree(b, node, order.root, [&](int from, int to) { return blocks.range(from, to); });

  const int next = order.wrap(position + 1);
  ring_allgather(b, order, blocks, node.end - position,
                 knomial_node(next, order.size, 2).end - next);
}

}  // namespace unisono::bcast
