// k-nomial tree: each level multiplies the ranks that hold the data by k; binomial is k = 2.
// Rounds ceil(log_k p), the root sends (k - 1) ceil(log_k p) m bytes; T = ceil(log_k p)(alpha +
// (k - 1) beta m). For short messages, and with more ranks than cores (fewer levels are fewer
// context switches). Any p, any root.
// Source: textbook; generalised radix as in MPICH.
#include "algorithms/algorithms.h"
#include "patterns/phases.h"

namespace unisono::bcast {

namespace {

void tree(Builder& b, int radix) { tree_bcast(b, {b.size(), b.args().root}, radix, b.output()); }

}  // namespace

void binomial(Builder& b) { tree(b, 2); }
void knomial(Builder& b) { tree(b, static_cast<int>(b.args().params.radix)); }

}  // namespace unisono::bcast
