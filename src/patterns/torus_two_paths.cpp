// Two paths at once beside a grid: one tree more, of trees that share no hop in either direction.
// That is what counting lets: see extend_by_two_paths.
#include <algorithm>
#include <optional>

#include "patterns/torus_colours.h"

namespace unisono {

namespace {

/// The hops of the two paths, shared out: which of them trees take at each cell of the grid that
/// the paths are beside. A place is where in the two paths, its number that of `places`.
class PathHops {
 public:
  PathHops(const TwoPaths& paths, int leaf, int spine)
      : paths_(paths),
        leaf_(leaf),
        spine_(spine),
        taken_(static_cast<std::size_t>(2 * paths.cells * paths.places())),
        seen_(static_cast<std::size_t>(paths.places())) {
    for (int v = 0; v < paths.cells; ++v) take(v, hop_between(leaf, neck()));
  }

  int leaf() const { return leaf_; }
  /// The place beside the leaf.
  int neck() const { return leaf_ / paths_.first * paths_.first + spine_; }
  int next(int hop) const { return hop / 2 + (hop % 2 == 0 ? 1 : paths_.first); }
  /// A comb: a spine, from which rows go off; without the leaf.
  std::vector<int> comb(bool without_leaf) const;
  /// By the spine (0), or in every other row (1, 2).
  int part_of(int hop) const { return hop % 2 != 0 ? 0 : 1 + hop / 2 / paths_.first % 2; }
  /// If the others still join all places at this cell, or need not.
  bool take_if_joined(int v, int hop, bool need_not);
  /// Of those that are left at the cell, from the leaf on.
  std::vector<int> rest(int v);

 private:
  bool is_free(int v, int hop) const {
    return !taken_[static_cast<std::size_t>(2 * v * paths_.places() + hop)];
  }
  void take(int v, int hop) {
    taken_[static_cast<std::size_t>(2 * v * paths_.places() + hop)] = true;
  }
  int hop_between(int place, int other) const {
    const int lower = std::min(place, other);
    return 2 * lower + (std::max(place, other) - lower == 1 ? 0 : 1);
  }
  /// Goes on from a place until `to` is found, calling use(hop) for each that finds another place.
  template <class Use>
  bool walk(int v, int from, int to, Use&& use);

  const TwoPaths& paths_;
  int leaf_, spine_;
  std::vector<bool> taken_;  // by cell and hop: twice the lower place, plus one in the second path
  std::vector<int> seen_, queue_;
  int walks_ = 0;
};

std::vector<int> PathHops::comb(bool without_leaf) const {
  const int n = paths_.first, row = leaf_ / n, beside = row + 1 < paths_.second ? n : -n;
  std::vector<int> hops;
  for (int place = 0; place < paths_.places(); ++place) {
    if (place == neck() || (without_leaf && place == leaf_)) continue;
    const int i = place % n, to_spine = i < spine_ ? 1 : -1, to_row = place < neck() ? n : -n;
    // Round the leaf, or from it, for its hop to the neck is taken.
    const bool round = without_leaf ? place + to_spine == leaf_ : place == leaf_;
    hops.push_back(hop_between(place, place + (i == spine_ ? to_row : round ? beside : to_spine)));
  }
  return hops;
}

template <class Use>
bool PathHops::walk(int v, int from, int to, Use&& use) {
  queue_.assign(1, from);
  seen_[static_cast<std::size_t>(from)] = ++walks_;
  for (std::size_t k = 0; k < queue_.size(); ++k) {
    const int here = queue_[k], i = here % paths_.first, j = here / paths_.first;
    const auto go = [&](bool there_is, int there) {
      if (!there_is || seen_[static_cast<std::size_t>(there)] == walks_) return;
      if (!is_free(v, hop_between(here, there))) return;
      seen_[static_cast<std::size_t>(there)] = walks_;
      queue_.push_back(there);
      use(hop_between(here, there));
    };
    go(i + 1 < paths_.first, here + 1);
    go(i > 0, here - 1);
    go(j + 1 < paths_.second, here + paths_.first);
    go(j > 0, here - paths_.first);
    if (to >= 0 && seen_[static_cast<std::size_t>(to)] == walks_) return true;
  }
  return false;
}

bool PathHops::take_if_joined(int v, int hop, bool need_not) {
  if (!is_free(v, hop)) return false;
  take(v, hop);
  if (need_not || walk(v, hop / 2, next(hop), [](int) {})) return true;
  taken_[static_cast<std::size_t>(2 * v * paths_.places() + hop)] = false;
  return false;
}

std::vector<int> PathHops::rest(int v) {
  std::vector<int> hops;
  walk(v, leaf_, -1, [&hops](int hop) { hops.push_back(hop); });
  return hops;
}

/// The cells in the order of their distance from the root, in a tree.
std::vector<int> near_to_far(const GridTree& tree, int root) {
  std::vector<GridHop> hops;
  for (int v = 0; v < std::ssize(tree.parent); ++v)
    if (const int parent = tree.parent[static_cast<std::size_t>(v)]; parent >= 0)
      hops.push_back({parent, v, 0});
  std::vector<int> depth(tree.parent.size()), cells(tree.parent.size());
  for (int v = 0; v < std::ssize(cells); ++v) {
    cells[static_cast<std::size_t>(v)] = v;
    for (int at = v; at != root; at = tree.parent[static_cast<std::size_t>(at)])
      ++depth[static_cast<std::size_t>(v)];
  }
  std::stable_sort(cells.begin(), cells.end(), [&](int a, int b) {
    return depth[static_cast<std::size_t>(a)] < depth[static_cast<std::size_t>(b)];
  });
  return cells;
}

/// Trees of the grid, and what they leave: how they are extended.
class TwoPathsExtension {
 public:
  TwoPathsExtension(const std::vector<GridTree>& trees, const TwoPaths& paths,
                    const std::vector<int>& spare)
      : trees_(trees), paths_(paths), spare_(spare) {}

  /// Nothing if not all can have their hops.
  std::optional<std::vector<GridTree>> made(int root, int leaf, int spine,
                                            const std::vector<int>& near) const;

 private:
  int root_of_grid() const { return paths_.grid_root; }
  /// Whether the new tree comes to the cell by a spare hop, wherever in the paths.
  bool is_hooked(int v) const {
    return !spare_.empty() &&
           (v == root_of_grid() || std::find(spare_.begin() + 1, spare_.end(), v) != spare_.end());
  }
  void copy(std::vector<GridHop>& to, const GridTree& tree, int place) const;
  bool share_out(PathHops& hops, int tree, const std::vector<int>& near,
                 std::vector<GridHop>& to) const;
  std::vector<GridHop> added(PathHops& hops) const;
  void add(std::vector<GridHop>& to, const PathHops& hops, int v, int hop) const {
    to.push_back({paths_.cell(v, hop / 2), paths_.cell(v, hops.next(hop)), 0});
  }

  const std::vector<GridTree>& trees_;
  const TwoPaths& paths_;
  const std::vector<int>& spare_;
};

void TwoPathsExtension::copy(std::vector<GridHop>& to, const GridTree& tree, int place) const {
  for (int v = 0; v < paths_.cells; ++v)
    if (const int parent = tree.parent[static_cast<std::size_t>(v)]; parent >= 0)
      to.push_back({paths_.cell(parent, place), paths_.cell(v, place),
                    tree.sign[static_cast<std::size_t>(v)]});
}

/// The hops by which a tree goes from place to place.
bool TwoPathsExtension::share_out(PathHops& hops, int tree, const std::vector<int>& near,
                                  std::vector<GridHop>& to) const {
  const int hook = spare_.empty() ? -1
                   : tree == 0    ? root_of_grid()
                                  : spare_[static_cast<std::size_t>(tree)];
  for (const int hop : hops.comb(tree == 0)) {
    int taken = -1;
    if (hook >= 0 && hops.take_if_joined(hook, hop, true)) taken = hook;
    for (std::size_t i = 0; i < near.size() && taken < 0; ++i) {
      const std::size_t wanted =
          3 * static_cast<std::size_t>(tree) + static_cast<std::size_t>(hops.part_of(hop)) + i;
      const int v = near[wanted % near.size()];
      if (hops.take_if_joined(v, hop, is_hooked(v))) taken = v;
    }
    if (taken < 0) return false;
    add(to, hops, taken, hop);
  }
  return true;
}

std::vector<GridHop> TwoPathsExtension::added(PathHops& hops) const {
  std::vector<GridHop> to;
  copy(to, trees_.front(), hops.leaf());
  for (int v = 0; v < paths_.cells; ++v)
    if (!is_hooked(v))
      for (const int hop : hops.rest(v)) add(to, hops, v, hop);
  for (const int v : spare_)
    for (int place = 0; place < paths_.places(); ++place)
      if (place != hops.leaf())
        to.push_back({paths_.cell(v, place), paths_.cell(root_of_grid(), place), 1});
  return to;
}

std::optional<std::vector<GridTree>> TwoPathsExtension::made(int root, int leaf, int spine,
                                                             const std::vector<int>& near) const {
  PathHops hops(paths_, leaf, spine);
  const int cells = paths_.cells * paths_.places();
  std::vector<GridTree> made;
  for (int tree = 0; tree < std::ssize(trees_); ++tree) {
    std::vector<GridHop> its;
    if (!share_out(hops, tree, near, its)) return std::nullopt;
    for (int place = 0; place < paths_.places(); ++place)
      if (tree > 0 || place != leaf) copy(its, trees_[static_cast<std::size_t>(tree)], place);
    for (int v = 0; v < paths_.cells && tree == 0; ++v)
      its.push_back({paths_.cell(v, leaf), paths_.cell(v, hops.neck()), 0});
    made.push_back(hung_from(its, cells, root));
  }
  made.push_back(hung_from(added(hops), cells, root));
  return made;
}

}  // namespace

bool extend_by_two_paths(std::vector<GridTree>& trees, const TwoPaths& paths,
                         const std::vector<int>& spare) {
  const std::int64_t places = paths.places(), r = std::ssize(trees);
  const std::int64_t left = places - paths.first - paths.second;  // at a cell
  if (spare.empty() && paths.cells * left < r * (places - 1) - 1) return false;
  const auto near = near_to_far(trees.front(), paths.grid_root);
  const TwoPathsExtension extension(trees, paths, spare);
  const int root = paths.cell(paths.grid_root, paths.root_place);
  for (int i = 0; i < paths.places(); ++i) {
    const int leaf = (paths.root_place + i) % paths.places(), at = leaf % paths.first;
    for (const int spine :
         {2 * at < paths.first ? at + 1 : at - 1, 2 * at < paths.first ? at - 1 : at + 1}) {
      if (spine < 0 || spine >= paths.first) continue;
      if (auto made = extension.made(root, leaf, spine, near)) {
        trees = std::move(*made);
        return true;
      }
    }
  }
  return false;
}

}  // namespace unisono
