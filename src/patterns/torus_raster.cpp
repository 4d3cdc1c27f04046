// Raster trees: every set of hosts has one whose messages share no link, even where all routes are
// the shortest.
//
// Routes change dimensions in the order O1 .. Ok. Members with the same coordinates in O1 .. Oi are
// a group; one message enters a group, and its first member hands on to the next group in the ring
// Oi and into the smaller groups within. So within the groups of one group, all that moves in Oi
// are the messages that enter them, each over an arc of its own: no link carries two. To the
// nearest group, then both ways round from there up to the widest gap, all arcs are shortest
// routes; with forced directions all go one way round, and the tree that goes the other way round
// shares no link with it. A reduction's routes are those of a broadcast backwards, and so it takes
// the dimensions from Ok to O1.
//
// Trees: 1; with forced directions on tori 2. Both at once: 1 each, forced; of shortest routes some
// meet. Depth: at most the sum of the sizes less one each, half of it where no direction is forced.
// O(h (k + log h)). Two each, forced, are no rasters: on a full torus a tree's fast lines leave
// free only one link a line, too few for another's slow line.
//
// Source: our own; instead of the chain of Mittal et al. 2012 (torus_snake.cpp).
#include <algorithm>

#include "patterns/torus_groups.h"
#include "patterns/torus_trees.h"

namespace unisono {

namespace {

class Raster {
 public:
  /// `turn`: +1, -1: the only way round, where a ring has one; 0: the shorter one.
  Raster(const TorusMembers& members, Flow flow, int turn) : members_(members), turn_(turn) {
    const Torus& torus = members.torus();
    for (int d = 0; d < torus.dimensions(); ++d)
      order_.push_back(flow == Flow::out ? d : torus.dimensions() - 1 - d);
    tree_.flow = flow;
    // Ties go upwards, so that a tree towards the root has them downwards, seen from there.
    ties_up_ = flow == Flow::out;
    tree_.way.direction = static_cast<std::int8_t>(flow == Flow::out ? turn : -turn);
  }

  TorusTree from(int root) {
    sorted_ = sorted_members(members_, order_);
    tree_.parent.assign(sorted_.size(), -1);
    enter(sorted_, 0, root);
    tree_.parent[static_cast<std::size_t>(root)] = -1;
    return std::move(tree_);
  }

 private:
  using Group = std::span<const int>;

  int at(int member, int dimension) const {
    return members_.torus().coordinate(members_.host(member), dimension);
  }
  int at(Group group, int dimension) const { return at(group.front(), dimension); }

  /// Sends from a member into a group whose members differ from order_[level] on. The group's first
  /// member.
  int enter(Group group, std::size_t level, int from) {
    if (level == order_.size()) {
      tree_.parent[static_cast<std::size_t>(group.front())] = from;
      return group.front();
    }
    const int d = order_[level];
    const auto groups = groups_of(members_, group, d);
    const auto count = std::ssize(groups);
    const auto entry = nearest(groups, d, at(from, d));
    const auto group_at = [&](std::ptrdiff_t i) {
      return groups[static_cast<std::size_t>((entry + i + count) % count)];
    };
    const int first = enter(group_at(0), level + 1, from);
    const auto upwards = count_upwards(groups, d, entry);
    int last = first;
    for (std::ptrdiff_t i = 1; i <= upwards; ++i) last = enter(group_at(i), level + 1, last);
    last = first;
    for (std::ptrdiff_t i = 1; i < count - upwards; ++i)
      last = enter(group_at(-i), level + 1, last);
    return first;
  }

  /// Which group is reached first from a coordinate.
  std::ptrdiff_t nearest(const std::vector<Group>& groups, int d, int coordinate) const {
    const int n = members_.torus().size(d);
    const bool ring = members_.torus().wraps(d);
    const auto hops = [&](Group group) {
      const int up = (at(group, d) - coordinate + n) % n, down = (n - up) % n;
      if (!ring) return std::abs(at(group, d) - coordinate);
      return turn_ > 0 ? up : turn_ < 0 ? down : std::min(up, down);
    };
    return std::min_element(groups.begin(), groups.end(),
                            [&](Group a, Group b) { return hops(a) < hops(b); }) -
           groups.begin();
  }

  /// How many groups beyond the entry are reached upwards from it; the others downwards.
  std::ptrdiff_t count_upwards(const std::vector<Group>& groups, int d,
                               std::ptrdiff_t entry) const {
    const auto count = std::ssize(groups);
    if (!members_.torus().wraps(d)) return count - 1 - entry;
    if (turn_ != 0) return turn_ > 0 ? count - 1 : 0;
    const int n = members_.torus().size(d);
    const auto place = [&](std::ptrdiff_t i) {
      return at(groups[static_cast<std::size_t>((entry + i) % count)], d);
    };
    const auto gap_above = [&](std::ptrdiff_t i) { return (place(i + 1) - place(i) + n) % n; };
    if (count == 2 && gap_above(0) * 2 == n) return ties_up_ ? 1 : 0;
    for (std::ptrdiff_t i = 0; i < count; ++i)
      if (gap_above(i) * 2 >= n) return i;
    return count / 2;
  }

  const TorusMembers& members_;
  int turn_;
  bool ties_up_ = true;
  std::vector<int> order_;  // slowest first
  std::vector<int> sorted_;
  TorusTree tree_;
};

/// Whether members lie apart in no dimension but in rings.
bool only_rings(const TorusMembers& members) {
  const Torus& torus = members.torus();
  for (int d = 0; d < torus.dimensions(); ++d) {
    if (torus.wraps(d)) continue;
    for (const int host : members.hosts())
      if (torus.coordinate(host, d) != torus.coordinate(members.host(0), d)) return false;
  }
  return true;
}

}  // namespace

std::optional<TorusTrees> raster_trees(const TorusMembers& members, int root, TreesFor use,
                                       Routing routing) {
  TorusTrees trees;
  const bool forced =
      (routing == Routing::directed || routing == Routing::source) && only_rings(members);
  if (use != TreesFor::reduction)
    trees.out.push_back(Raster(members, Flow::out, forced).from(root));
  if (use == TreesFor::broadcast && forced)
    trees.out.push_back(Raster(members, Flow::out, -1).from(root));
  if (use != TreesFor::broadcast) trees.in.push_back(Raster(members, Flow::in, forced).from(root));
  if (use == TreesFor::reduction && forced)
    trees.in.push_back(Raster(members, Flow::in, -1).from(root));
  if (routing == Routing::adaptive && !only_neighbours(members, trees)) return std::nullopt;
  return trees;
}

}  // namespace unisono
