// Trees over the hosts of a torus: a share of every block goes up each of the trees towards rank 0,
// and from there down one of as many that share no link with them. Every rank hands on what has
// come while more comes.
// Rounds 2 d + p, for d the depth of the trees; T = 2 d alpha + p (alpha + beta b / k) on a full
// torus of k dimensions, beta of one link: twice the time that all links together would need. Any
// ranks on any hosts; irregular counts. Source: own; trees: see patterns/torus_trees.h.
#include "algorithms/torus.h"
#include "algorithms/algorithms.h"
#include "patterns/partition.h"

namespace unisono::allgather {

void torus(Builder& b) {
  const int rank = b.rank();
  const TorusRankTrees trees(b);
  const int root = torus_root(b.args());
  b.copy(b.input(), b.output_block(rank));
  for (int number = 0; number < trees.count(); ++number) {
    const RankTree &up = trees.in(number), &down = trees.out(number);
    const auto share = [&](int owner) {
      return segments(block_of(b.output_block(owner), number, trees.count()), b.args());
    };
    for (const int owner : blocks_upwards(up, rank))
      for (const Slice segment : share(owner)) {
        if (owner != rank) b.recv(child_towards(up, rank, owner), segment);
        if (rank != root) b.send_by(up.way_of(rank), up.parent_of(rank), segment);
      }
    // All ranks hear of the blocks in the order in which the root does, but not of their own.
    for (const int owner : blocks_upwards(up, root))
      for (const Slice segment : share(owner)) {
        if (rank != root && rank != owner) b.recv(down.parent_of(rank), segment);
        for (const int child : down.children(rank))
          if (child != owner) b.send_by(down.way_of(child), child, segment);
      }
  }
}

}  // namespace unisono::allgather
