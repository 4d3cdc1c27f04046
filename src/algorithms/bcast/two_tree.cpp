// Two trees: half of the segments go down each of two binary trees, in which no rank has children
// in both, so that every rank receives m and sends m, a segment a round.
// Rounds at most n - 1 + 2 (1 + log2 p), bytes m per rank; T = (n + 2 log2 p)(alpha + beta m / n),
// at the best n beta m + 2 alpha log2 p + sqrt(8 alpha beta m log2 p). Up to twice the start-up of
// circulant; half of the ranks send in each tree, with at most four neighbours. Any p, any root.
// Source: Sanders, Speck, Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and
// scan (2009).
#include "algorithms/algorithms.h"
#include "patterns/partition.h"
#include "patterns/phases.h"
#include "patterns/window.h"

namespace unisono::bcast {

void two_tree(Builder& b) {
  two_tree_bcast(b, {b.size(), b.args().root}, segments(b.output(), b.args()));
}

// The same with a message without content for each segment that has come: no more than `window`
// segments out of a rank are under way, whoever is late.
void two_tree_credits(Builder& b) {
  two_tree_bcast(b, {b.size(), b.args().root}, segments(b.output(), b.args()),
                 RoundWindow::Credits::yes);
}

}  // namespace unisono::bcast
