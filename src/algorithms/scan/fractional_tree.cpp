// Fractional tree, for scan and exscan: an in-order binary tree whose nodes are chains of r ranks.
// One member of a chain, by turns, gets its ranks' sum from both sides and sends it up, and passes
// what lies before them on to both sides.
// Rounds about (2 + 1/r) n + 2 (r + 1) log2 p, bytes up to (2 + 1/r) m per rank; T = (2 + 1/r) beta
// m + O(r alpha log p): between the in-order tree (r = 1, 3 m) and the chain (p <= 3 r, m). A sum
// that leaves a chain before the prefix comes costs its members a second vector, so that counted in
// rounds the chain or two_tree is better.
// Scratch: 2 (`window` + 1) segments; exscan in place: a vector more. Any p, rank order kept.
// Source: after Sanders, Sibeyn, A bandwidth latency tradeoff for broadcast and reduction (2000).
#include <bit>
#include <vector>

#include "algorithms/algorithms.h"
#include "patterns/in_order_chains.h"
#include "patterns/in_order_scan.h"

namespace unisono::scan {

void fractional_tree(Builder& b) {
  const InOrderChains chains{b.size(), static_cast<int>(b.args().params.radix)};
  std::vector<InOrderNode> nodes;
  for (int turn = 0; turn < chains.radix; ++turn) nodes.push_back(chains.node(b.rank() + 1, turn));
  // About half of the longest way to the root, r ranks a level: most sums do not go all of it.
  const auto levels = std::bit_width(static_cast<unsigned>(chains.groups()));
  in_order_scan(b, nodes, static_cast<std::size_t>(chains.radix * levels / 2));
}

}  // namespace unisono::scan
