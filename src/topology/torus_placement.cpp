#include "topology/torus_placement.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

namespace unisono {

namespace {

constexpr std::size_t kMostKept = 4;

std::vector<int> different(std::vector<int> hosts) {
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

// Counts, sums and places; then the depth, from the root on.
void add_children(RankTree& tree) {
  const std::size_t ranks = tree.parent.size();
  tree.first_child.assign(ranks + 1, 0);
  for (const int parent : tree.parent)
    if (parent >= 0) ++tree.first_child[static_cast<std::size_t>(parent) + 1];
  std::partial_sum(tree.first_child.begin(), tree.first_child.end(), tree.first_child.begin());
  tree.child.resize(static_cast<std::size_t>(tree.first_child.back()));
  std::vector<int> next(tree.first_child.begin(), tree.first_child.end() - 1);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (const int parent = tree.parent[rank]; parent >= 0)
      tree.child[static_cast<std::size_t>(next[static_cast<std::size_t>(parent)]++)] =
          static_cast<int>(rank);
  std::vector<int> level{tree.root}, below;
  for (; !level.empty(); level.swap(below), below.clear()) {
    for (const int rank : level)
      below.insert(below.end(), tree.children(rank).begin(), tree.children(rank).end());
    tree.depth += below.empty() ? 0 : 1;
  }
}

}  // namespace

TorusHosts TorusHosts::restricted_to(std::span<const int> ranks) const {
  TorusHosts result{torus, routing, {}, as_cart};
  if (torus == nullptr) return result;
  for (const int rank : ranks) result.of_rank.push_back(of_rank[static_cast<std::size_t>(rank)]);
  return result;
}

TorusHosts TorusPlacement::ring(int ranks) {
  TorusHosts hosts{std::make_shared<const Torus>(std::vector{ranks}), Routing::minimal, {}};
  hosts.of_rank.resize(static_cast<std::size_t>(ranks));
  std::iota(hosts.of_rank.begin(), hosts.of_rank.end(), 0);
  return hosts;
}

TorusPlacement::TorusPlacement(const TorusHosts& hosts)
    : routing_(hosts.routing),
      members_(hosts.torus, different(hosts.of_rank)),
      in_rank_order_(std::is_sorted(hosts.of_rank.begin(), hosts.of_rank.end())) {
  ranks_on_.resize(static_cast<std::size_t>(members_.size()));
  for (std::size_t rank = 0; rank < hosts.of_rank.size(); ++rank) {
    const int member = members_.member(hosts.of_rank[rank]);
    RankGroup& group = ranks_on_[static_cast<std::size_t>(member)];
    member_of_.push_back(member);
    group.ranks.push_back(static_cast<int>(rank));
  }
}

std::shared_ptr<const TorusTrees> TorusPlacement::trees(TreeKind kind, int root_rank,
                                                        TreesFor use) const {
  const int root = member_of(root_rank);
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
    return kept.kind == kind && kept.root == root && kept.use == use;
  });
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    return kept_.front().trees;
  }
  auto made = make_trees(kind, members_, root, use, routing_);
  kept_.push_front(
      {kind, root, use, made ? std::make_shared<const TorusTrees>(std::move(*made)) : nullptr});
  if (kept_.size() > kMostKept) kept_.pop_back();
  return kept_.front().trees;
}

int TorusPlacement::leader(int member, int number, int root_rank) const {
  if (member == member_of(root_rank)) return root_rank;
  const RankGroup& ranks = ranks_on(member);
  return ranks.rank(number % ranks.size());
}

RankTree TorusPlacement::rank_tree(const TorusTree& tree, int number, int root_rank) const {
  RankTree found{.root = root_rank};
  found.parent.assign(member_of_.size(), -1);
  found.way.assign(member_of_.size(), 0);
  for (int member = 0; member < members_.size(); ++member) {
    const RankGroup& here = ranks_on(member);
    const int above = tree.parent[static_cast<std::size_t>(member)];
    int before = above < 0 ? -1 : leader(above, number, root_rank);
    const int leads = leader(member, number, root_rank);
    const bool is_named =
        !tree.route.empty() && !tree.route[static_cast<std::size_t>(member)].empty();
    found.way[static_cast<std::size_t>(leads)] =
        is_named ? static_cast<std::uint8_t>(kFirstNamedRoute + number)
                 : tree.way_of(member).number();
    const auto first = std::find(here.ranks.begin(), here.ranks.end(), leads) - here.ranks.begin();
    for (int i = 0; i < here.size(); ++i) {
      const int rank = here.rank((static_cast<int>(first) + i) % here.size());
      found.parent[static_cast<std::size_t>(rank)] = before;
      before = rank;
    }
  }
  add_children(found);
  return found;
}

IntervalNode TorusPlacement::interval_node(int rank) const {
  const Torus& torus = members_.torus();
  const int ranks = static_cast<int>(member_of_.size());
  // Hosts with the same coordinates from dimension `level` on are alike when divided so.
  std::vector<int> divisors{1};
  for (int d = 0; d < torus.dimensions(); ++d) divisors.push_back(divisors.back() * torus.size(d));
  const auto end = [&](int level, int of) {
    const auto group = [&](int r) {
      return host_of(r) / divisors[static_cast<std::size_t>(level)];
    };
    const auto all = std::views::iota(of, ranks);
    return of +
           static_cast<int>(
               std::ranges::partition_point(all, [&](int r) { return group(r) == group(of); }) -
               all.begin()) -
           1;
  };
  return unisono::interval_node(rank, torus.dimensions(), end);
}

}  // namespace unisono
