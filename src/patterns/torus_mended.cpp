// Members that are a grid but for some hosts, for both ways at once: the grid's trees without these
// hosts, mended with hops that no tree has, and turned to the root. No two share a hop in either
// direction, so that they may be turned at will. A tree that cannot be mended is given up, and its
// hops serve the others.
//
// One missing host costs none of the k trees of k rings, whatever the routing, and nothing has to
// be mended: from that very host each of k trees has one of the k hops upwards, so that the others
// are a spanning tree without it. No forest has more: 2k trees have all the links that are left.
// More hosts cost a tree of a torus, which has no hops to spare, and often none of a mesh, which
// has.
//
// Where the grid has no gaps, all messages are between neighbours. Depth: with one host missing, at
// most twice that of the grid's trees. Cost: trees^2 * cells * k at most. Source: our own; Lovasz's
// and Mader's splitting off at a vertex says that one host costs none.
#include <algorithm>
#include <numeric>

#include "patterns/torus_colours.h"

namespace unisono {

namespace {

/// With fewer hardly a tree can be mended.
constexpr double kLeastShareOfGrid = 0.75;
/// Looks at hops; with more nothing is exchanged. About 5 ms.
constexpr std::int64_t kMostLooks = 1'000'000;

class Joined {
 public:
  explicit Joined(int cells) : above_(static_cast<std::size_t>(cells)) {
    std::iota(above_.begin(), above_.end(), 0);
  }
  /// Whether they were apart.
  bool join(int cell, int other) {
    const int a = top(cell), b = top(other);
    above_[static_cast<std::size_t>(a)] = b;
    return a != b;
  }

 private:
  int top(int cell) {
    for (;;) {
      int& above = above_[static_cast<std::size_t>(cell)];
      if (above == cell) return cell;
      above = above_[static_cast<std::size_t>(above)];
      cell = above;
    }
  }
  std::vector<int> above_;
};

/// Upwards, each once.
std::vector<GridHop> hops_of(const TorusGrid& grid) {
  std::vector<GridHop> hops;
  int stride = 1;
  for (const GridAxis& axis : grid.axes()) {
    const int n = static_cast<int>(axis.at.size());
    for (int cell = 0; cell < grid.cells(); ++cell) {
      const int at = cell / stride % n;
      if (at + 1 < n)
        hops.push_back({cell, cell + stride, static_cast<std::int8_t>(axis.ring ? 1 : 0)});
      else if (axis.ring)
        hops.push_back({cell, cell + (1 - n) * stride, 1});
    }
    stride *= n;
  }
  return hops;
}

/// Forests that share no hop, and hops that none has, between members.
class Mending {
 public:
  Mending(const TorusMembers& members, const TorusGrid& grid, const std::vector<GridTree>& trees);

  /// As many trees as can be mended: their hops.
  std::vector<std::vector<GridHop>> mended();

 private:
  static constexpr int kSpare = -1, kUnseen = -2;
  /// Where a cell is in a forest.
  struct Place {
    int hop = -1;  ///< the one above; -1: none, it is the top of its part
    int above = -1, top = -1, depth = 0;
  };

  const GridHop& hop(int h) const { return hops_[static_cast<std::size_t>(h)]; }
  int& owner(int h) { return owner_[static_cast<std::size_t>(h)]; }
  const Place& place(int tree, int cell) const {
    return places_[static_cast<std::size_t>(tree)][static_cast<std::size_t>(cell)];
  }
  std::vector<GridHop> hops_of_tree(int tree) const;
  int join_with_spare(int tree);
  void find_places(int tree);
  bool join_by_exchange();
  void push_out(int tree, int by);
  void exchange(int h, int tree);

  int members_, cells_, count_;
  std::vector<GridHop> hops_;
  std::vector<int> owner_;                  // by hop: a tree
  std::vector<int> by_, queue_;             // by hop: which one pushes it out of its tree
  std::vector<std::vector<Place>> places_;  // by tree and cell
  std::int64_t steps_ = 0;
};

Mending::Mending(const TorusMembers& members, const TorusGrid& grid,
                 const std::vector<GridTree>& trees)
    : members_(members.size()), cells_(grid.cells()), count_(static_cast<int>(trees.size())) {
  for (const GridHop& hop : hops_of(grid)) {
    if (members.member(grid.host(hop.from)) < 0 || members.member(grid.host(hop.to)) < 0) continue;
    const auto has = [&hop](const GridTree& tree) {
      const auto from = static_cast<std::size_t>(hop.from), to = static_cast<std::size_t>(hop.to);
      return (tree.parent[to] == hop.from && tree.sign[to] == hop.sign) ||
             (tree.parent[from] == hop.to && tree.sign[from] == -hop.sign);
    };
    const auto tree = std::find_if(trees.begin(), trees.end(), has);
    hops_.push_back(hop);
    owner_.push_back(tree == trees.end() ? kSpare : static_cast<int>(tree - trees.begin()));
  }
}

std::vector<GridHop> Mending::hops_of_tree(int tree) const {
  std::vector<GridHop> found;
  for (std::size_t h = 0; h < hops_.size(); ++h)
    if (owner_[h] == tree) found.push_back(hops_[h]);
  return found;
}

/// How many hops are still missing.
int Mending::join_with_spare(int tree) {
  Joined joined(cells_);
  int missing = members_ - 1;
  for (const int whose : {tree, kSpare})
    for (int h = 0; h < std::ssize(hops_) && missing > 0; ++h)
      if (owner(h) == whose && joined.join(hop(h).from, hop(h).to)) {
        owner(h) = tree;
        --missing;
      }
  return missing;
}

void Mending::find_places(int tree) {
  auto& places = places_[static_cast<std::size_t>(tree)];
  places.assign(static_cast<std::size_t>(cells_), {});
  const auto its = hops_of_tree(tree);
  const HopsAt at(its, cells_);
  for (int top = 0; top < cells_; ++top) {
    if (place(tree, top).top >= 0) continue;
    places[static_cast<std::size_t>(top)].top = top;
    queue_.assign(1, top);
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const int cell = queue_[i];
      for (const int h : at.of(cell)) {
        const GridHop& hop = its[static_cast<std::size_t>(h)];
        const int there = hop.from == cell ? hop.to : hop.from;
        if (place(tree, there).top >= 0) continue;
        places[static_cast<std::size_t>(there)] = {h, cell, top, place(tree, cell).depth + 1};
        queue_.push_back(there);
      }
    }
  }
  // Numbers of the tree's own hops become those of all.
  std::vector<int> number;
  for (int h = 0; h < std::ssize(hops_); ++h)
    if (owner(h) == tree) number.push_back(h);
  for (Place& one : places)
    if (one.hop >= 0) one.hop = number[static_cast<std::size_t>(one.hop)];
}

/// The hops of the circle that another one would make in the tree.
void Mending::push_out(int tree, int by) {
  for (int a = hop(by).from, b = hop(by).to; a != b; ++steps_) {
    int& lower = place(tree, a).depth < place(tree, b).depth ? b : a;
    const Place& here = place(tree, lower);
    if (by_[static_cast<std::size_t>(here.hop)] == kUnseen) {
      by_[static_cast<std::size_t>(here.hop)] = by;
      queue_.push_back(here.hop);
    }
    lower = here.above;
  }
}

/// The hop becomes the tree's, and the tree that had it gets the one that pushed it out.
void Mending::exchange(int h, int tree) {
  for (; h != kSpare; h = by_[static_cast<std::size_t>(h)]) std::swap(owner(h), tree);
}

/// One hop more, by the fewest exchanges; false: there is none, or it took too long.
bool Mending::join_by_exchange() {
  places_.resize(static_cast<std::size_t>(count_));
  for (int tree = 0; tree < count_; ++tree) find_places(tree);
  by_.assign(hops_.size(), kUnseen);
  queue_.clear();
  for (int h = 0; h < std::ssize(hops_); ++h)
    if (owner(h) == kSpare) {
      by_[static_cast<std::size_t>(h)] = kSpare;
      queue_.push_back(h);
    }
  steps_ += std::ssize(hops_) * count_;
  for (std::size_t i = 0; i < queue_.size() && steps_ < kMostLooks; ++i)
    for (int tree = 0; tree < count_; ++tree) {
      const int h = queue_[i];
      if (owner(h) == tree) continue;
      if (place(tree, hop(h).from).top != place(tree, hop(h).to).top) {
        exchange(h, tree);
        return true;
      }
      push_out(tree, h);
    }
  return false;
}

std::vector<std::vector<GridHop>> Mending::mended() {
  for (; count_ > 0; --count_) {
    int missing = 0;
    for (int tree = 0; tree < count_; ++tree) missing += join_with_spare(tree);
    const auto looks = std::ssize(hops_) * count_ * std::int64_t{missing};  // at least
    while (missing > 0 && steps_ + looks < kMostLooks && join_by_exchange()) --missing;
    if (missing == 0) break;
    for (int& owner : owner_)
      if (owner == count_ - 1) owner = kSpare;
  }
  std::vector<std::vector<GridHop>> trees;
  for (int tree = 0; tree < count_; ++tree) trees.push_back(hops_of_tree(tree));
  return trees;
}

}  // namespace

std::optional<TorusTrees> mended_trees(const TorusMembers& members, int root, TreesFor use,
                                       Routing routing) {
  const int cells = cells_around(members);
  if (use != TreesFor::both || cells == members.size() ||
      members.size() < kLeastShareOfGrid * cells)
    return std::nullopt;
  const auto grid =
      TorusGrid::around(members, routing == Routing::adaptive ? Hops::confined : Hops::shortest);
  if (!grid) return std::nullopt;
  const int root_cell = grid->cell(members.host(root));
  int from = root_cell;
  if (grid->rings() > 0)
    for (from = 0; members.member(grid->host(from)) >= 0;) ++from;
  Mending mending(members, *grid, grid_trees(*grid, from, true));
  std::vector<GridTree> trees;
  for (const auto& hops : mending.mended()) trees.push_back(hung_from(hops, cells, root_cell));
  if (trees.empty()) return std::nullopt;
  return torus_trees_of(members, *grid, trees, use, false);
}

}  // namespace unisono
