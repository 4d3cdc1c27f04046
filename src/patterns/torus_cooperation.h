// Groups of hosts, disjoint but spread over the same torus, that broadcast, reduce or do both at
// the same time: instead of trees of their own, which meet, each gets its share of trees over all
// hosts, which do not. Hosts that are not in a group hand on what they lie between.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "patterns/torus_trees.h"

namespace unisono {

/// Hosts of a torus, by their numbers, one after the other in any order; `root` is one of them.
struct TorusGroup {
  std::vector<int> hosts;
  int root = 0;
};

/// A tree that serves a group: over its hosts and those between. All messages go to neighbours.
struct GroupTree {
  int group = 0;
  int root = 0;             ///< host
  int deepest = 0;          ///< edges from the root to the farthest member
  std::vector<int> parent;  ///< by host; -1: the root, or not in the tree
  std::vector<int> depth;   ///< by host: edges from the root; -1: it is not in the tree

  bool has(int host) const { return depth[static_cast<std::size_t>(host)] >= 0; }
  std::vector<int> children(int host) const;
};

/// Each tree moves 1 / trees_of_each of its group's vector.
struct Cooperation {
  std::vector<GroupTree> trees;  ///< the first of each group, then the second, ...
  int trees_of_each = 0;
  int sharing = 1;  ///< trees on the busiest link; 1: no two share any
  int depth = 0;    ///< of the deepest

  /// Of one link's bandwidth, what each group can count on.
  double rate() const { return static_cast<double>(trees_of_each) / sharing; }
};

/// `both`: every tree's links are free in the other direction, too, for a reduction over the same
/// tree at the same time; then there are half as many. Equal on all ranks. Nothing where the torus
/// is one host, or a root cannot be moved (never seen). Precondition: groups are disjoint.
///
/// All r trees from one root (r = 2k on a torus of k dimensions) get other roots. There are as many
/// from any roots as from one: a set of hosts without any m of the roots has at least m links into
/// it (Edmonds 1973). A root moves from v to a neighbour w: v gets one of its links from below w,
/// and the tree that had it gets another, from not below v, until one is free. `both`: the way
/// between the old root and the new is turned round, since nobody has the links of the other
/// direction.
///
/// g groups, g no divisor of r: several layers of r trees, so that all groups get as many; the
/// links then carry a tree of each layer (`sharing`). Trees end at hosts of their group.
///
/// Cost: layers * r * (hosts + steps of the root * k^2 * depth). Source of the idea: Mittal et al.
/// 2012; the trees: our own.
std::optional<Cooperation> cooperating_trees(const std::shared_ptr<const Torus>& torus,
                                             std::span<const TorusGroup> groups, TreesFor use);

/// What the slowest group can count on, of one link's bandwidth, when each uses trees of its own:
/// their number to the trees, of whichever group, on the busiest of their links. Cooperation pays
/// where its rate() is more.
double rate_apart(std::span<const TorusMembers> groups, std::span<const TorusTrees> trees);

}  // namespace unisono
