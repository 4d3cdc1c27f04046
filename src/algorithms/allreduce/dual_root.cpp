// Dual root: each half of the ranks is a binary tree; a segment is summed up in both, the two roots
// exchange their sums, and it goes down again, while the next ones come up.
// Rounds about 3 n + 4 log2 p, bytes 3 m per rank; T = 3 beta m + O(alpha log p + sqrt(alpha beta m
// log p)): the chain's order of summation without its start-up. The trees are in pre-order, so that
// a rank's sum is own, left, right without a copy. Rank order is kept: the operation need not
// commute. Any p. Scratch: up to 3 `window` segments. Both roots add the same two sums: the same
// bits for all.
// Source: Traeff, A Doubly-pipelined, Dual-root Reduction-to-all Algorithm and Implementation
// (2021), arXiv 2109.12626.
#include "algorithms/algorithms.h"
#include "patterns/arrival.h"
#include "patterns/tree.h"

namespace unisono::allreduce {

namespace {

/// The sums of the two halves into `result`; `other`: the other root.
void exchange(Builder& b, int other, Slice sum, bool own_input, Slice result, Slots& slots) {
  b.send(other, sum);
  if (other > b.rank()) {
    const Slice total = sum == result ? slots.next(sum.length) : result;
    b.recv(other, total);
    b.reduce(sum, total);
    b.copy(total, result);
  } else {
    const Slice total = own_input ? result : sum;
    const Slice before = slots.next(sum.length);
    b.copy(sum, total);
    b.recv(other, before);
    b.reduce(before, total);
    b.copy(total, result);
  }
}

}  // namespace

void dual_root(Builder& b) {
  const Args& args = b.args();
  const Slice own = b.input();
  const int half = (args.size + 1) / 2;
  const int root = args.rank < half ? 0 : half;
  const TreeNode node = preorder_node(args.rank - root, root == 0 ? half : args.size - half);
  std::vector<int> children;
  for (const auto& child : node.children) children.push_back(root + child.rank);
  // Rank 0 needs its output for the other root's sum, which is the right operand.
  ChainSum sums(b, args.in_place || args.rank == 0 ? Slice{} : b.output());
  Slots slots(b, args.segment_of(own.length), args.params.window);
  for (const Slice segment : segments(own, args)) {
    const Slice result = b.output().part(segment.offset - own.offset, segment.length);
    const Slice sum = sums.add(children, segment);
    if (node.parent >= 0) {
      b.send(root + node.parent, sum);
      b.recv(root + node.parent, result);
    } else if (args.size == 1) {
      b.copy(sum, result);
    } else {
      exchange(b, half - root, sum, children.empty(), result, slots);
    }
    for (const int child : children) b.send(child, result);
  }
}

}  // namespace unisono::allreduce
