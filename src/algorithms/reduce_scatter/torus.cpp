// Trees over the hosts of a torus: a share of every block is summed up along each of the trees
// towards rank 0, and goes from there down one of as many that share no link with them to the rank
// whose it is.
// Rounds 2 d + p, for d the depth of the trees; T = 2 d alpha + p (alpha + (beta + gamma) b / k) on
// a full torus of k dimensions, beta of one link: twice the time that all links together would
// need. Scratch: up to 4 `window` segments a tree. Commutative operations, any ranks on any hosts,
// irregular counts. Source: own; trees: see patterns/torus_trees.h.
#include "algorithms/torus.h"
#include "algorithms/algorithms.h"
#include "patterns/arrival.h"
#include "patterns/partition.h"

namespace unisono::reduce_scatter {

namespace {

/// A segment of a share of a block, and where it lies in the own block's result.
struct Portion {
  int owner;
  Slice input, result;
};

std::vector<Portion> portions(const Builder& b, Slice result, std::span<const int> owners, int tree,
                              int trees) {
  std::vector<Portion> all;
  for (const int owner : owners) {
    const Slice block = b.args().input_block(owner);
    for (const Slice part : segments(block_of(block, tree, trees), b.args()))
      all.push_back(
          {owner, part,
           owner == b.rank() ? result.part(part.offset - block.offset, part.length) : Slice{}});
  }
  return all;
}

}  // namespace

void torus(Builder& b) {
  const int rank = b.rank();
  const TorusRankTrees trees(b);
  const int root = torus_root(b.args());
  // In place other blocks lie where the result goes.
  const Slice result = b.args().in_place ? b.scratch(b.output().length) : b.output();
  for (int number = 0; number < trees.count(); ++number) {
    const RankTree &up = trees.in(number), &down = trees.out(number);
    const auto all = portions(b, result, blocks_upwards(down, root), number, trees.count());
    ChainSum sums(b, {});
    Slots slots(b, b.args().segment_of(b.input().length), b.args().params.window);
    // Up and down in one order for all ranks: both may use the same channel.
    for (const Portion& portion : all) {
      const bool own = portion.owner == rank;
      Slice sum = sums.add(up.children(rank), portion.input);
      const int towards = own ? -1 : child_towards(down, rank, portion.owner);
      if (rank != root) {
        b.send_by(up.way_of(rank), up.parent_of(rank), sum);
        if (!own && towards < 0) continue;
        sum = own ? portion.result : slots.next(portion.input.length);
        b.recv(down.parent_of(rank), sum);
      }
      own ? void(b.copy(sum, portion.result)) : void(b.send_by(down.way_of(towards), towards, sum));
    }
  }
  b.copy(result, b.output());
}

}  // namespace unisono::reduce_scatter
