#include "algorithms/torus.h"

#include <memory>
#include <ranges>

#include "patterns/partition.h"

namespace unisono {

namespace {

TreesFor use_of(Collective collective) {
  if (collective == Collective::bcast) return TreesFor::broadcast;
  return collective == Collective::reduce ? TreesFor::reduction : TreesFor::both;
}

}  // namespace

int torus_root(const Args& args) {
  return use_of(args.collective) == TreesFor::both ? 0 : args.root;
}

std::shared_ptr<const TorusTrees> torus_trees(const TorusPlacement& placement, const Args& args) {
  const TreesFor use = use_of(args.collective);
  auto trees = placement.trees(static_cast<TreeKind>(args.params.trees), torus_root(args), use);
  return trees != nullptr ? trees : placement.trees(TreeKind::best, torus_root(args), use);
}

TorusRankTrees::TorusRankTrees(Builder& b) {
  constexpr Count kWindow = 8;
  const Args& args = b.args();
  std::unique_ptr<const TorusPlacement> ring;
  const TorusPlacement* placement = args.topology == nullptr ? nullptr : args.topology->torus();
  if (placement == nullptr) {
    ring = std::make_unique<TorusPlacement>(TorusPlacement::ring(args.size));
    placement = ring.get();
  }
  const auto trees = torus_trees(*placement, args);
  const int root = torus_root(args);
  const auto over_ranks = [&](const TorusForest& forest, std::vector<RankTree>& into) {
    for (const TorusTree& tree : forest)
      into.push_back(placement->rank_tree(tree, static_cast<int>(out_.size() + in_.size()), root));
  };
  over_ranks(trees->out, out_);
  over_ranks(trees->in, in_);
  b.channel_window(kWindow * std::ssize(out_) + kWindow * std::ssize(in_));
}

int TorusRankTrees::depth() const {
  const auto deepest = [](const std::vector<RankTree>& trees) {
    int depth = 0;
    for (const RankTree& tree : trees) depth = std::max(depth, tree.depth);
    return depth;
  };
  return deepest(out_) + deepest(in_);
}

std::vector<TreeSegment> tree_segments(const Builder& b, Slice whole, int trees) {
  std::vector<std::vector<Slice>> shares;
  std::size_t most = 0;
  for (int tree = 0; tree < trees; ++tree)
    most = std::max(most,
                    shares.emplace_back(segments(block_of(whole, tree, trees), b.args())).size());
  std::vector<TreeSegment> all;
  for (std::size_t i = 0; i < most; ++i)
    for (int tree = 0; tree < trees; ++tree)
      if (const auto& share = shares[static_cast<std::size_t>(tree)]; i < share.size())
        all.push_back({tree, share[i]});
  return all;
}

// Without recursion: a chain is as deep as there are ranks. From the leaves up every rank merges
// the lists of its children, which are not needed any more then; backwards, so that it puts itself
// before them at their end.
std::vector<int> blocks_upwards(const RankTree& tree, int rank) {
  std::vector<int> order{rank};  // every rank after its parent
  for (std::size_t i = 0; i < order.size(); ++i)
    order.insert(order.end(), tree.children(order[i]).begin(), tree.children(order[i]).end());
  std::vector<std::vector<int>> lists(tree.parent.size());
  const auto list = [&lists](int of) -> std::vector<int>& {
    return lists[static_cast<std::size_t>(of)];
  };
  for (const int at : order | std::views::reverse) {
    std::vector<int>& own = list(at);
    const auto children = tree.children(at);
    if (children.size() == 1) {
      own = std::move(list(children[0]));
    } else {
      std::size_t longest = 0;
      for (const int child : children) longest = std::max(longest, list(child).size());
      for (std::size_t left = longest; left > 0; --left)
        for (const int child : children | std::views::reverse)
          if (const auto& of_child = list(child); left <= of_child.size())
            own.push_back(of_child[of_child.size() - left]);
    }
    own.push_back(at);
  }
  std::reverse(list(rank).begin(), list(rank).end());
  return std::move(list(rank));
}

int child_towards(const RankTree& tree, int rank, int below) {
  int child = below;
  while (child >= 0 && tree.parent_of(child) != rank) child = tree.parent_of(child);
  return child;
}

}  // namespace unisono
