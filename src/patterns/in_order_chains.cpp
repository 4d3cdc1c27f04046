#include "patterns/in_order_chains.h"

#include <algorithm>

namespace unisono {

InOrderNode InOrderChains::node(int position, int turn) const {
  const TwoTrees trees(groups());
  const auto first_of = [&](int group) { return (group - 1) * radix + 1; };
  const auto last_of = [&](int group) {
    return first_of(group) + std::min(radix - 1, size - first_of(group));
  };
  const auto top_of = [&](int group) {
    if (group == 0) return 0;
    const InOrderNode node = trees.node(0, group);
    if (node.first == 1) return last_of(group);
    if (node.last == groups()) return first_of(group);
    return first_of(group) + turn;
  };

  const int group = (position - 1) / radix + 1;
  const InOrderNode at = trees.node(0, group);
  const int top = top_of(group);
  InOrderNode node{.first = position, .last = position};
  if (position <= top) {
    node.left = position > first_of(group) ? position - 1 : top_of(at.left);
    node.first = first_of(at.first);
  }
  if (position >= top) {
    node.right = position < last_of(group) ? position + 1 : top_of(at.right);
    node.last = last_of(at.last);
  }
  if (position != top) {
    node.parent = position < top ? position + 1 : position - 1;
  } else if (at.parent != 0) {
    node.parent = at.parent > group ? first_of(at.parent) : last_of(at.parent);
  }
  return node;
}

}  // namespace unisono
