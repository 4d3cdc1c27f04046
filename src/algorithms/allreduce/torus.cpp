// Trees over the hosts of a torus: of as many towards rank 0 as away from it, each moves a share of
// the vector in segments, which are on their way back as soon as they are summed. With
// contention-free trees no two messages share a link.
// Rounds 2 d + n, for d the depth of the trees, k trees each way on a full torus of k dimensions; T
// = (2 d + n)(alpha + (beta + gamma) m / (k n)), beta of one link. Scratch: up to 2 `window`
// segments a tree. Any ranks on any hosts. An operation that does not commute: the chain of ranks.
// One rank has each sum: the same bits for all.
// Source: Mittal, Jain, George, Sabharwal, Kumar, Collective Algorithms for Sub-communicators
// (2012); trees: see patterns/torus_trees.h.
#include "algorithms/torus.h"
#include "algorithms/algorithms.h"
#include "patterns/arrival.h"

namespace unisono::allreduce {

void torus(Builder& b) {
  const Args& args = b.args();
  if (!args.commutative) return pipeline(b);
  const Slice own = b.input();
  const TorusRankTrees trees(b);
  const int root = torus_root(b.args());
  std::vector<ChainSum> sums(static_cast<std::size_t>(trees.count()),
                             ChainSum(b, args.in_place ? Slice{} : b.output()));
  const auto result = [&](Slice segment) {
    return b.output().part(segment.offset - own.offset, segment.length);
  };
  const auto all = tree_segments(b, own, trees.count());
  // In the order in which it comes to pass, the same on all ranks: what goes up and what comes down
  // may use the same channel.
  const std::size_t delay = static_cast<std::size_t>(trees.depth() * trees.count());
  for (std::size_t i = 0; i < all.size() + delay; ++i) {
    if (i < all.size()) {
      const auto& [number, segment] = all[i];
      const RankTree& tree = trees.in(number);
      const Slice sum =
          sums[static_cast<std::size_t>(number)].add(tree.children(b.rank()), segment);
      if (b.rank() == root)
        b.copy(sum, result(segment));
      else
        b.send_by(tree.way_of(b.rank()), tree.parent_of(b.rank()), sum);
    }
    if (i >= delay) {
      const auto& [number, segment] = all[i - delay];
      const RankTree& tree = trees.out(number);
      if (b.rank() != root) b.recv(tree.parent_of(b.rank()), result(segment));
      for (const int child : tree.children(b.rank()))
        b.send_by(tree.way_of(child), child, result(segment));
    }
  }
}

}  // namespace unisono::allreduce
