// Tree: arrivals are collected up a k-nomial tree, the release goes down again.
// Rounds 2 ceil(log_k p), messages 2 (p - 1) in all; T = 2 ceil(log_k p) alpha. Twice the rounds of
// dissemination, but a rank sleeps at most twice: for more ranks than cores. Any p.
// Source: textbook.
#include <ranges>

#include "algorithms/algorithms.h"
#include "patterns/tree.h"

namespace unisono::barrier {

void tree(Builder& b) {
  const TreeNode node = knomial_node(b.rank(), b.size(), static_cast<int>(b.args().params.radix));
  for (const auto& child : node.children | std::views::reverse) b.recv_token(child.rank);
  b.end_round();
  if (node.parent >= 0) {
    b.send_token(node.parent);
    b.recv_token(node.parent);
    b.end_round();
  }
  for (const auto& child : node.children) b.send_token(child.rank);
}

}  // namespace unisono::barrier
