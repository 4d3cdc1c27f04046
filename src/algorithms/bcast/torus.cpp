// Trees over the hosts of a torus, each of which moves a share of the vector in segments; with
// contention-free trees no two messages share a link.
// Rounds d + n, for d the depth of the trees, 2k trees on a full torus of k dimensions; T = (d + n)
// (alpha + beta m / (2k n)), beta of one link. Any ranks on any hosts; of several on a host one is
// in a tree, the others a chain behind it.
// Source: Mittal, Jain, George, Sabharwal, Kumar, Collective Algorithms for Sub-communicators
// (2012); trees: see patterns/torus_trees.h.
#include "algorithms/torus.h"
#include "algorithms/algorithms.h"

namespace unisono::bcast {

void torus(Builder& b) {
  const TorusRankTrees trees(b);
  for (const auto& [number, segment] : tree_segments(b, b.output(), trees.count())) {
    const RankTree& tree = trees.out(number);
    if (!b.args().is_root()) b.recv(tree.parent_of(b.rank()), segment);
    for (const int child : tree.children(b.rank())) b.send_by(tree.way_of(child), child, segment);
  }
}

}  // namespace unisono::bcast
