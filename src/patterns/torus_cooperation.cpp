#include "patterns/torus_cooperation.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace unisono {

std::vector<int> GroupTree::children(int host) const {
  std::vector<int> found;
  for (int child = 0; child < std::ssize(parent); ++child)
    if (parent[static_cast<std::size_t>(child)] == host) found.push_back(child);
  return found;
}

namespace {

// Finer shares cost more messages than they gain.
constexpr int kMostLayers = 8;

using Parents = std::vector<int>;  // by host; -1: the root

/// Trees over all hosts that share no link, whose roots can be moved.
class Layer {
 public:
  /// `both`: nor do they share one in the opposite direction.
  Layer(const Torus& torus, std::vector<Parents> trees, bool both)
      : torus_(torus), trees_(std::move(trees)), both_(both) {}

  const Parents& tree(std::size_t t) const { return trees_[t]; }

  /// False: it got stuck, and is now rooted somewhere between.
  bool move_root(std::size_t t, int to) {
    int at = root(t);
    if (both_) return turn_path(t, to);
    std::vector<int> been;
    for (int left = 4 * torus_.hosts(); at != to && left > 0; --left) {
      been.push_back(at);
      const int next = step_root(t, at, to, been);
      if (next < 0) {
        if (been.size() == 1) return false;
        been.clear();  // the trees have changed since
      } else {
        at = next;
      }
    }
    return at == to;
  }

 private:
  int& parent(std::size_t t, int host) { return trees_[t][static_cast<std::size_t>(host)]; }
  int root(std::size_t t) const {
    return static_cast<int>(std::find(trees_[t].begin(), trees_[t].end(), -1) - trees_[t].begin());
  }

  std::vector<int> neighbours(int host) const {
    std::vector<int> found;
    for (int d = 0; d < torus_.dimensions(); ++d)
      for (const int sign : {1, -1})
        if (torus_.size(d) > 1 && torus_.exists(torus_.link(host, d, sign)))
          found.push_back(torus_.neighbour(host, d, sign));
    return found;
  }

  bool is_below(std::size_t t, int host, int above) {
    while (host >= 0 && host != above) host = parent(t, host);
    return host == above;
  }

  // Nobody has the links in the opposite direction.
  bool turn_path(std::size_t t, int to) {
    for (int at = to, below = -1; at >= 0;) {
      const int above = std::exchange(parent(t, at), below);
      below = std::exchange(at, above);
    }
    return true;
  }

  /// To the neighbour nearest to `to` that it can be moved to and has not been at; -1: there is
  /// none.
  int step_root(std::size_t t, int from, int to, const std::vector<int>& been) {
    std::vector<int> next = neighbours(from);
    std::stable_sort(next.begin(), next.end(),
                     [&](int a, int b) { return torus_.distance(a, to) < torus_.distance(b, to); });
    for (const int w : next) {
      if (std::find(been.begin(), been.end(), w) != been.end()) continue;
      tried_.clear();
      if (!find_link(t, from, w)) continue;
      parent(t, w) = -1;
      return w;
    }
    return -1;
  }

  /// A link into `host` for tree t: from below `new_root`, or, of a tree that keeps its root (-1),
  /// from not below `host`. Its owner is given another.
  bool find_link(std::size_t t, int host, int new_root) {
    for (const int u : neighbours(host)) {
      if (std::find(tried_.begin(), tried_.end(), u) != tried_.end()) continue;
      if (new_root >= 0 ? !is_below(t, u, new_root) : is_below(t, u, host)) continue;
      tried_.push_back(u);
      std::size_t owner = 0;
      while (owner < trees_.size() && parent(owner, host) != u) ++owner;
      if (owner < trees_.size() && !find_link(owner, host, -1)) continue;
      parent(t, host) = u;
      return true;
    }
    return false;
  }

  const Torus& torus_;
  std::vector<Parents> trees_;
  bool both_;
  std::vector<int> tried_;
};

/// How many layers of trees, so that each group gets `trees_of_each` of them all.
struct Deal {
  int layers = 1, trees_of_each = 0;

  static Deal best(int trees, int groups) {
    Deal deal;
    for (int layers = 1; layers <= kMostLayers; ++layers) {
      const int each = trees * layers / groups;
      if (each * deal.layers > deal.trees_of_each * layers) deal = {layers, each};
    }
    if (deal.trees_of_each == 0) deal = {(groups + trees - 1) / trees, 1};
    return deal;
  }
};

/// The part of a tree that leads to hosts of the group.
GroupTree pruned(const Parents& tree, int number, const TorusGroup& group) {
  GroupTree made;
  made.group = number;
  made.root = group.root;
  made.parent.assign(tree.size(), -1);
  made.depth.assign(tree.size(), -1);
  made.depth[static_cast<std::size_t>(group.root)] = 0;
  for (const int host : group.hosts) {
    std::vector<int> path;
    int at = host;
    for (; !made.has(at); at = tree[static_cast<std::size_t>(at)]) path.push_back(at);
    int depth = made.depth[static_cast<std::size_t>(at)];
    for (auto below = path.rbegin(); below != path.rend(); ++below) {
      const auto i = static_cast<std::size_t>(*below);
      made.parent[i] = tree[i];
      made.depth[i] = ++depth;
    }
    made.deepest = std::max(made.deepest, depth);
  }
  return made;
}

/// `both`: a tree takes both links of a pair.
void measure(Cooperation& made, int hosts, bool both) {
  const auto link_of = [both](int from, int to) {
    return both ? std::pair(std::min(from, to), std::max(from, to)) : std::pair(from, to);
  };
  std::map<std::pair<int, int>, int> load;
  for (const GroupTree& tree : made.trees) {
    for (int host = 0; host < hosts; ++host)
      if (const int parent = tree.parent[static_cast<std::size_t>(host)]; parent >= 0)
        made.sharing = std::max(made.sharing, ++load[link_of(parent, host)]);
    made.depth = std::max(made.depth, tree.deepest);
  }
}

}  // namespace

std::optional<Cooperation> cooperating_trees(const std::shared_ptr<const Torus>& torus,
                                             std::span<const TorusGroup> groups, TreesFor use) {
  std::vector<int> hosts(static_cast<std::size_t>(torus->hosts()));
  std::iota(hosts.begin(), hosts.end(), 0);
  const TorusMembers all(torus, std::move(hosts));
  // A reduction takes the trees of a broadcast backwards.
  const TreesFor made_for = use == TreesFor::both ? use : TreesFor::broadcast;
  const auto group_of = [&](int slot) { return slot % static_cast<int>(groups.size()); };
  const auto parents_from = [&](int root) {
    auto made = *box_trees(all, root, made_for, Routing::minimal);
    std::vector<Parents> parents;
    for (TorusTree& tree : made.out) parents.push_back(std::move(tree.parent));
    return parents;
  };
  if (groups.empty() || torus->hosts() < 2) return std::nullopt;
  const int trees = static_cast<int>(parents_from(groups[0].root).size());
  const Deal deal = Deal::best(trees, static_cast<int>(groups.size()));
  Cooperation made;
  made.trees_of_each = deal.trees_of_each;
  const int slots = deal.trees_of_each * static_cast<int>(groups.size());
  for (int first = 0; first < slots; first += trees) {
    const int here = std::min(trees, slots - first);
    Layer layer(*torus, parents_from(groups[static_cast<std::size_t>(group_of(first))].root),
                use == TreesFor::both);
    for (int t = 0; t < here; ++t)
      if (!layer.move_root(static_cast<std::size_t>(t),
                           groups[static_cast<std::size_t>(group_of(first + t))].root))
        return std::nullopt;
    // Only now: moving the root of one tree changes others.
    for (int t = 0; t < here; ++t) {
      const int group = group_of(first + t);
      made.trees.push_back(pruned(layer.tree(static_cast<std::size_t>(t)), group,
                                  groups[static_cast<std::size_t>(group)]));
    }
  }
  measure(made, torus->hosts(), use == TreesFor::both);
  return made;
}

double rate_apart(std::span<const TorusMembers> groups, std::span<const TorusTrees> trees) {
  if (groups.empty()) return 0;
  std::vector<int> load(static_cast<std::size_t>(groups[0].torus().links()));
  // Twice: the first time loads are counted, then looked at.
  double least = 0;
  for (const bool counts : {true, false})
    for (std::size_t g = 0; g < groups.size(); ++g) {
      int most = 1;
      for (const TorusForest* forest : {&trees[g].out, &trees[g].in})
        for (const TorusTree& tree : *forest)
          for (int member = 0; member < groups[g].size(); ++member)
            for_links(groups[g], tree, member, [&](LinkId link) {
              int& here = load[static_cast<std::size_t>(link)];
              if (counts) ++here;
              most = std::max(most, here);
            });
      const auto count = static_cast<double>(std::max(trees[g].out.size(), trees[g].in.size()));
      if (!counts) least = g == 0 ? count / most : std::min(least, count / most);
    }
  return least;
}

}  // namespace unisono
