#include "patterns/interval_tree.h"

namespace unisono {

IntervalNode interval_node(int rank, int levels, const std::function<int(int, int)>& end) {
  const auto same = [&](int level, int a, int b) {
    return a >= 0 && (level < 0 ? a == b : end(level, a) == end(level, b));
  };
  const auto begin = [&](int level) {
    int first = rank;
    while (same(level, first - 1, rank)) --first;
    return first;
  };
  IntervalNode node;
  for (int level = 0; level <= levels; ++level) {
    // The group one level below ends with this rank: it stands for it here.
    const int before = begin(level - 1) - 1;
    if (same(level, before, rank)) node.children.insert(node.children.begin(), before);
    node.first = begin(level);
    if (end(level, rank) == rank) continue;
    node.parent = level == 0 ? rank + 1 : end(level - 1, rank + 1);
    break;
  }
  return node;
}

}  // namespace unisono
