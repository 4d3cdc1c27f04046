#include "patterns/torus_forest.h"

#include <algorithm>

namespace unisono {

TorusMembers::TorusMembers(std::shared_ptr<const Torus> torus, std::vector<int> hosts)
    : torus_(std::move(torus)),
      hosts_(std::move(hosts)),
      member_(static_cast<std::size_t>(torus_->hosts()), -1) {
  std::sort(hosts_.begin(), hosts_.end());
  for (int i = 0; i < size(); ++i) member_[static_cast<std::size_t>(host(i))] = i;
}

std::vector<std::vector<int>> coordinates_of(const TorusMembers& members) {
  const Torus& torus = members.torus();
  std::vector<std::vector<int>> found;
  for (int d = 0; d < torus.dimensions(); ++d) {
    std::vector<bool> has(static_cast<std::size_t>(torus.size(d)));
    for (const int host : members.hosts())
      has[static_cast<std::size_t>(torus.coordinate(host, d))] = true;
    found.emplace_back();
    for (int c = 0; c < torus.size(d); ++c)
      if (has[static_cast<std::size_t>(c)]) found.back().push_back(c);
  }
  return found;
}

NamedRoutes::NamedRoutes(std::initializer_list<std::vector<LinkId>> by_member)
    : NamedRoutes(static_cast<int>(by_member.size())) {
  int member = 0;
  for (const auto& route : by_member) name(member++, route);
}

void NamedRoutes::name(int member, std::span<const LinkId> route) {
  if (route.empty()) return;
  first_[static_cast<std::size_t>(member)] = static_cast<std::uint32_t>(links_.size());
  links_.push_back(static_cast<LinkId>(route.size()));
  links_.insert(links_.end(), route.begin(), route.end());
}

namespace {

/// By member, edges from the root; -1: it has no way to the root.
std::vector<int> depths(const TorusTree& tree, int root) {
  std::vector<int> depth(tree.parent.size(), -1);
  depth[static_cast<std::size_t>(root)] = 0;
  std::vector<int> path;
  for (int member = 0; member < std::ssize(depth); ++member) {
    path.clear();
    int at = member;
    while (at >= 0 && depth[static_cast<std::size_t>(at)] < 0 && path.size() <= depth.size()) {
      path.push_back(at);
      at = tree.parent[static_cast<std::size_t>(at)];
    }
    if (at < 0 || path.size() > depth.size()) continue;
    int above = depth[static_cast<std::size_t>(at)];
    for (auto below = path.rbegin(); below != path.rend(); ++below)
      depth[static_cast<std::size_t>(*below)] = ++above;
  }
  return depth;
}

int root_of(const TorusTree& tree) {
  return static_cast<int>(std::find(tree.parent.begin(), tree.parent.end(), -1) -
                          tree.parent.begin());
}

}  // namespace

LinkUse use_of(const TorusMembers& members, std::span<const TorusTree> forest) {
  return use_of(members, forest, {});
}

LinkUse use_of(const TorusMembers& members, std::span<const TorusTree> forest,
               std::span<const TorusTree> other) {
  LinkUse use;
  std::vector<int> load(static_cast<std::size_t>(members.torus().links()));
  for (const auto trees : {forest, other})
    for (const TorusTree& tree : trees) {
      for (int member = 0; member < members.size(); ++member)
        for_links(members, tree, member, [&](LinkId link) {
          const int now = ++load[static_cast<std::size_t>(link)];
          if (now == 1) ++use.used;
          if (now > use.most) use.busiest = link;
          use.most = std::max(use.most, now);
        });
      const auto depth = depths(tree, root_of(tree));
      use.depth = std::max(use.depth, *std::max_element(depth.begin(), depth.end()));
    }
  return use;
}

std::optional<std::string> flaw_of(const TorusMembers& members, std::span<const TorusTree> forest,
                                   int root) {
  const Torus& torus = members.torus();
  for (std::size_t t = 0; t < forest.size(); ++t) {
    const TorusTree& tree = forest[t];
    const std::string where = "tree " + std::to_string(t) + ": ";
    if (std::ssize(tree.parent) != members.size()) return where + "not all members are in it";
    const auto depth = depths(tree, root);
    for (int member = 0; member < members.size(); ++member) {
      const std::string who = torus.text(members.host(member));
      const int parent = tree.parent[static_cast<std::size_t>(member)];
      if ((parent < 0) != (member == root)) return where + who + " has no parent, or the root has";
      if (depth[static_cast<std::size_t>(member)] < 0)
        return where + who + " has no way to the root";
      if (member == root) continue;
      int at = members.host(tree.flow == Flow::out ? parent : member);
      bool whole = true;
      for_links(members, tree, member, [&](LinkId link) {
        whole = whole && torus.exists(link) && torus.from(link) == at;
        at = torus.to(link);
      });
      if (!whole || at != members.host(tree.flow == Flow::out ? member : parent))
        return where + "the route of " + who + " does not lead to it";
    }
  }
  return std::nullopt;
}

}  // namespace unisono
