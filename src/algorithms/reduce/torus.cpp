// Trees over the hosts of a torus, each of which sums up a share of the vector in segments; with
// contention-free trees no two messages share a link.
// Rounds d + n, for d the depth of the trees, 2k trees on a full torus of k dimensions; T = (d + n)
// (alpha + (beta + gamma) m / (2k n)), beta of one link. Scratch: up to 2 `window` segments a tree.
// Any ranks on any hosts, any root. An operation that does not commute: the chain of ranks.
// Source: Mittal, Jain, George, Sabharwal, Kumar, Collective Algorithms for Sub-communicators
// (2012); trees: see patterns/torus_trees.h.
#include "algorithms/torus.h"
#include "algorithms/algorithms.h"
#include "patterns/arrival.h"

namespace unisono::reduce {

void torus(Builder& b) {
  const Args& args = b.args();
  if (!args.commutative) return chain(b);
  const Slice own = b.input();
  const TorusRankTrees trees(b);
  std::vector<ChainSum> sums(static_cast<std::size_t>(trees.count()),
                             ChainSum(b, args.is_root() && !args.in_place ? b.output() : Slice{}));
  for (const auto& [number, segment] : tree_segments(b, own, trees.count())) {
    const RankTree& tree = trees.in(number);
    const Slice sum = sums[static_cast<std::size_t>(number)].add(tree.children(b.rank()), segment);
    if (args.is_root())
      b.copy(sum, b.output().part(segment.offset - own.offset, segment.length));
    else
      b.send_by(tree.way_of(b.rank()), tree.parent_of(b.rank()), sum);
  }
}

}  // namespace unisono::reduce
