#include "patterns/in_order_scan.h"

#include "patterns/partition.h"
#include "patterns/window.h"

namespace unisono {

void in_order_scan(Builder& b, std::span<const InOrderNode> trees, std::size_t delay) {
  const Args& args = b.args();
  const bool exclusive = args.collective == Collective::exscan;
  const Slice own = exclusive && args.in_place ? b.scratch(args.count) : b.input();
  b.copy(b.input(), own);
  const Count longest = args.segment_of(args.count);
  Slots up(b, longest, args.params.window + 1), down(b, longest, args.params.window + 1);

  // A sum that ends where that in the output, if there is one, begins.
  const auto put_before = [&](int position, bool holds_sum, Slice out, Slots& slots) {
    const Slice term = holds_sum ? slots.next(out.length) : out;
    b.recv(position - 1, term);
    if (holds_sum) b.reduce(term, out);
    return term;
  };
  // The sum in the output, with the own contribution, which exscan leaves out there.
  const auto with_own = [&](bool holds_sum, Slice out, Slots& slots) {
    if (!exclusive) return out;
    if (!holds_sum) return own.part(out.offset, out.length);
    const Slice sum = slots.next(out.length);
    b.copy(own.part(out.offset, out.length), sum);
    b.reduce(out, sum);
    return sum;
  };
  const auto come_up = [&](const InOrderNode& node, Slice out) {
    if (!exclusive) b.copy(own.part(out.offset, out.length), out);
    if (node.left != 0) put_before(node.left, !exclusive, out, up);
    if (node.last == args.size) return;  // nobody is behind
    Slice sum = with_own(node.left != 0, out, up);
    if (node.right != 0) {
      const Slice right = up.next(out.length);
      b.recv(node.right - 1, right);
      b.reduce(sum, right);
      sum = right;
    }
    b.send(node.parent - 1, sum);
  };
  const auto go_down = [&](const InOrderNode& node, Slice out) {
    const bool has_left = node.left != 0;
    if (node.first > 1) {
      const Slice before = put_before(node.parent, !exclusive || has_left, out, down);
      if (has_left) b.send(node.left - 1, before);
    }
    if (node.right != 0) b.send(node.right - 1, with_own(has_left || node.first > 1, out, down));
  };

  // About in the order in which it comes to pass; the same on all ranks, which every tree connects.
  const auto all = segments(b.output(), args);
  for (std::size_t i = 0; i < all.size() + delay; ++i) {
    if (i < all.size()) come_up(trees[i % trees.size()], all[i]);
    if (i >= delay) go_down(trees[(i - delay) % trees.size()], all[i - delay]);
  }
}

}  // namespace unisono
