// Trees over the ranks 0..p-1 whose subtrees are intervals that end with their top.
#pragma once
#include <functional>
#include <vector>

namespace unisono {

struct IntervalNode {
  int parent = -1;            ///< -1: the last rank, the top of all
  int first = 0;              ///< the own subtree is [first, rank]
  std::vector<int> children;  ///< ascending; their subtrees lie one behind the other up to the rank
};

/// Ranks in groups of groups: end(level, rank) is the last rank of the group of `rank` at this
/// level. At level 0 groups are the smallest; at `levels` there is one, of all. The ranks of a
/// level-0 group are a chain, the last ranks of its groups of a group at the next level, and so on.
IntervalNode interval_node(int rank, int levels, const std::function<int(int, int)>& end);

}  // namespace unisono
