// k-nomial tree: the broadcast tree backwards; binomial is k = 2.
// Rounds ceil(log_k p), (k - 1) ceil(log_k p) m bytes at the root; T = ceil(log_k p)(alpha + (k -
// 1) (beta + gamma) m). For short vectors. Subtrees are intervals of ranks, so that order is kept:
// with an operation that does not commute the tree ends at rank 0 and the sum takes one more hop.
// Source: textbook; generalised radix as in MPICH.
#include "algorithms/algorithms.h"
#include "patterns/phases.h"

namespace unisono::reduce {

namespace {

void tree(Builder& b, int radix) {
  const Args& args = b.args();
  const int top = args.commutative ? args.root : 0;
  const Slice workspace = args.is_root() ? b.output() : Slice{};
  const Slice sum = tree_reduce(b, {args.size, top}, radix, b.input(), workspace);
  if (args.rank == top && args.is_root()) {
    b.copy(sum, b.output());
  } else if (args.rank == top) {
    b.send(args.root, sum);
  } else if (args.is_root()) {
    b.recv(top, b.output());
  }
}

}  // namespace

void binomial(Builder& b) { tree(b, 2); }
void knomial(Builder& b) { tree(b, static_cast<int>(b.args().params.radix)); }

}  // namespace unisono::reduce
