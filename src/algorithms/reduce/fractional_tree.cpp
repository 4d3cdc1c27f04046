// Fractional tree: the broadcast tree backwards; the head of a chain of r ranks gives its sums to
// the members of the chain above in turn, or all to the last.
// Rounds about (1 + 1/r)(n + 2 r log2 (p/r)), bytes (1 + 1/r) m received per rank; T = (1 + 1/r)
// (beta + gamma) m + O(r alpha log p): between the binary tree (r = 1) and the chain (r = p).
// Scratch: 2 `window` segments. Commutative operations, any p, any root.
// Source: Sanders, Sibeyn, A bandwidth latency tradeoff for broadcast and reduction (2000; 2003).
#include "patterns/fractional_tree.h"
#include "algorithms/algorithms.h"
#include "patterns/arrival.h"

namespace unisono::reduce {

void fractional_tree(Builder& b) {
  const Args& args = b.args();
  const Rotation order{args.size, args.root};
  const FractionalTree tree{args.size, static_cast<int>(args.params.radix)};
  const int position = order.position(args.rank);
  const Slice own = b.input();
  ChainSum sums(b, args.is_root() && !args.in_place ? b.output() : Slice{});
  Count i = 0;
  for (const Slice segment : segments(own, args)) {
    std::vector<int> from;
    for (const int target : tree.targets(position, i)) from.push_back(order.rank(target));
    const Slice sum = sums.add(from, segment);
    if (args.is_root()) {
      b.copy(sum, b.output().part(segment.offset - own.offset, segment.length));
    } else {
      b.send(order.rank(tree.source(position, i)), sum);
    }
    ++i;
  }
}

}  // namespace unisono::reduce
