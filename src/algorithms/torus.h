// What the algorithms over the hosts of a torus have in common: the trees, each with a share of the
// vector, which the tree takes in segments.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "schedule/builder.h"
#include "topology/topology.h"

namespace unisono {

/// Those that params.trees asks for, or, where there are none of this kind, the best. A broadcast
/// and a reduction have their own root, all other collectives use trees both ways from rank 0.
std::shared_ptr<const TorusTrees> torus_trees(const TorusPlacement& placement, const Args& args);
/// That root.
int torus_root(const Args& args);

/// The same over ranks, as they are on the torus of args.topology, or, if it knows none, on a ring.
/// Equal on all ranks.
class TorusRankTrees {
 public:
  /// Lets as many messages be under way between two ranks as if each tree had a channel of its own.
  explicit TorusRankTrees(Builder& b);

  /// How many shares there are; as many trees each way as the use asks for.
  int count() const { return static_cast<int>(std::max(out_.size(), in_.size())); }
  const RankTree& out(int i) const { return out_[static_cast<std::size_t>(i)]; }
  const RankTree& in(int i) const { return in_[static_cast<std::size_t>(i)]; }
  /// Edges on the longest way, there and back where there are trees both ways.
  int depth() const;

 private:
  std::vector<RankTree> out_, in_;
};

/// A segment of the share of one tree.
struct TreeSegment {
  int tree = 0;
  Slice slice;
};
/// Those of all trees, in turn.
std::vector<TreeSegment> tree_segments(const Builder& b, Slice whole, int trees);

/// Blocks that go up a tree: the ranks whose blocks they are, in an order in which every rank hands
/// on what it receives while more comes, and in which the children of the root take turns.
std::vector<int> blocks_upwards(const RankTree& tree, int rank);

/// The child of `rank` below which `below` is, or which it is; -1: it is not below it.
int child_towards(const RankTree& tree, int rank, int below);

}  // namespace unisono
