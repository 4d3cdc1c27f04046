// k-nomial tree: a rank receives the blocks of its subtree as one message and sends each child its
// part, the largest first; or with `segment` as a pipeline, in which it passes on what has come
// while the rest is on its way.
// Rounds ceil(log_k p), bytes (p - 1) b at the root; T = ceil(log_k p) alpha + (p - 1) beta b,
// against (p - 1) alpha of the flat one. Inner ranks hold their subtree in scratch; the root sends
// from where the blocks lie, but for a subtree that wraps past rank p - 1 or is not adjacent. Any
// p, any root; irregular counts must be known to all. A Bine tree has the same rounds and bytes,
// and shorter ways (tree.h). Source: textbook; binomial is k = 2; De Sensi et al., Bine Trees
// (2025).
#include "algorithms/algorithms.h"
#include "patterns/blocks.h"
#include "patterns/gather_tree.h"

namespace unisono::scatter {

namespace {

void tree(Builder& b, const Rotation& order, const TreeNode& node) {
  const Args& args = b.args();
  const int position = order.position(b.rank());
  // With equal blocks only the root is told what it sends, and all the same length.
  const bool send_known = is_irregular(args.collective) || args.is_root();
  const BlockOrder blocks(send_known ? args.send : args.recv, order);

  if (args.is_root()) {
    UserRuns input(b, blocks, kInput);
    scatter_tree(b, node, order.root, [&](int from, int to) { return input.packed(from, to); });
    b.copy(b.input_block(b.rank()), b.output());
  } else if (node.children.empty()) {
    scatter_tree(b, node, order.root, [&](int, int) { return b.output(); });
  } else {
    const Slice stage = b.scratch(blocks.length(node.begin, node.end));
    const auto run = [&](int from, int to) { return blocks.part(stage, node.begin, from, to); };
    scatter_tree(b, node, order.root, run);
    b.copy(run(position, position + 1), b.output());
  }
}

void from_root(Builder& b, int radix) {
  const Rotation order{b.size(), b.args().root};
  tree(b, order, knomial_node(order.position(b.rank()), b.size(), radix));
}

}  // namespace

void binomial(Builder& b) { from_root(b, 2); }
void knomial(Builder& b) { from_root(b, static_cast<int>(b.args().params.radix)); }

void bine(Builder& b) {
  const int top = bine_top(b.size());
  const Rotation order = Rotation::around(b.size(), b.args().root, top);
  tree(b, order, bine_node(order.position(b.rank()), b.size(), top));
}

}  // namespace unisono::scatter
