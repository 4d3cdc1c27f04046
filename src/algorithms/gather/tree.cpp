// k-nomial tree: a rank collects the blocks of its subtree and sends them up as one message, or
// with `segment` as a pipeline: what has come goes on while the rest is on its way.
// Rounds ceil(log_k p), bytes (p - 1) b at the root; T = ceil(log_k p) alpha + (p - 1) beta b,
// against (p - 1) alpha of the flat one. Inner ranks hold their subtree in scratch; the root
// receives into place, but for a subtree that wraps past rank p - 1 or has no adjacent place. Any
// p, any root; irregular counts must be known to all. A Bine tree has the same rounds and bytes,
// and shorter ways (tree.h). Source: textbook; binomial is k = 2; De Sensi et al., Bine Trees
// (2025).
#include "algorithms/algorithms.h"
#include "patterns/blocks.h"
#include "patterns/gather_tree.h"

namespace unisono::gather {

namespace {

void tree(Builder& b, const Rotation& order, const TreeNode& node) {
  const Args& args = b.args();
  const int position = order.position(b.rank());
  // With equal blocks only the root is told what it receives, and all the same length.
  const bool recv_known = is_irregular(args.collective) || args.is_root();
  const BlockOrder blocks(recv_known ? args.recv : args.send, order);

  if (args.is_root()) {
    UserRuns output(b, blocks, kOutput);
    b.copy(b.input(), b.output_block(b.rank()));
    gather_tree(b, node, order.root, [&](int from, int to) { return output.place(from, to); });
    output.unpack();
  } else if (node.children.empty()) {
    gather_tree(b, node, order.root, [&](int, int) { return b.input(); });
  } else {
    const Slice stage = b.scratch(blocks.length(node.begin, node.end));
    const auto run = [&](int from, int to) { return blocks.part(stage, node.begin, from, to); };
    b.copy(b.input(), run(position, position + 1));
    gather_tree(b, node, order.root, run);
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

}  // namespace unisono::gather
