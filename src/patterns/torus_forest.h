// Several spanning trees at once over hosts of a torus, for pipelines that share no link: what the
// constructions in torus_trees.h make.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "patterns/torus.h"

namespace unisono {

/// Some hosts of a torus. Member i is the i-th by number.
class TorusMembers {
 public:
  /// `hosts`: different ones, in any order; at least one. O(hosts of the torus).
  TorusMembers(std::shared_ptr<const Torus> torus, std::vector<int> hosts);

  const Torus& torus() const { return *torus_; }
  std::shared_ptr<const Torus> shared_torus() const { return torus_; }
  int size() const { return static_cast<int>(hosts_.size()); }
  int host(int member) const { return hosts_[static_cast<std::size_t>(member)]; }
  std::span<const int> hosts() const { return hosts_; }
  /// -1: no member.
  int member(int host) const { return member_[static_cast<std::size_t>(host)]; }

 private:
  std::shared_ptr<const Torus> torus_;
  std::vector<int> hosts_;   // ascending
  std::vector<int> member_;  // by host
};

/// By dimension, the coordinates that members have, ascending.
std::vector<std::vector<int>> coordinates_of(const TorusMembers& members);

/// Op::way of messages over the explicit routes of tree t of a forest: this plus t. Smaller ones
/// are those of Way.
inline constexpr int kFirstNamedRoute = 8;

/// Which way data goes through a tree.
enum class Flow : std::uint8_t {
  out,  ///< from the root: a broadcast
  in,   ///< to the root: a reduction
};

/// The links of some members' messages, in the order of the data's flow. Of each tree over routes
/// that are named there is one, mostly of short ones: all links are in one list.
class NamedRoutes {
 public:
  NamedRoutes() = default;
  /// None named yet; memory for that many links and members with routes.
  explicit NamedRoutes(int members, std::size_t most = 0)
      : first_(static_cast<std::size_t>(members)) {
    links_.reserve(most + 1);
    links_.push_back(0);
  }
  NamedRoutes(std::initializer_list<std::vector<LinkId>> by_member);

  /// Whether it is of no members, as in trees all of whose messages go their way.
  bool empty() const { return first_.empty(); }
  /// Empty where none is named.
  std::span<const LinkId> operator[](std::size_t member) const {
    const LinkId* const length = links_.data() + first_[member];
    return {length + 1, static_cast<std::size_t>(*length)};
  }
  /// Once a member.
  void name(int member, std::span<const LinkId> route);
  bool operator==(const NamedRoutes&) const = default;

 private:
  std::vector<std::uint32_t> first_;  // by member
  std::vector<LinkId> links_;         // how many, and they; first none
};

/// A spanning tree. A message between a member and its parent goes its way, or, with
/// Routing::source, over the links of its `route`.
struct TorusTree {
  Flow flow = Flow::out;
  Way way;
  std::vector<int> parent;  ///< by member; -1: the root
  /// By member, Way::number(); empty: all go `way`.
  std::vector<std::uint8_t> ways;
  /// Where none is named, it is the route that the way says.
  NamedRoutes route;

  Way way_of(int member) const {
    return ways.empty() ? way : Way::numbered(ways[static_cast<std::size_t>(member)]);
  }
};

/// Calls use(link) for each link of the messages between `member` and its parent.
template <class Use>
void for_links(const TorusMembers& members, const TorusTree& tree, int member, Use&& use) {
  const int parent = tree.parent[static_cast<std::size_t>(member)];
  if (parent < 0) return;
  if (!tree.route.empty() && !tree.route[static_cast<std::size_t>(member)].empty()) {
    for (const LinkId link : tree.route[static_cast<std::size_t>(member)]) use(link);
    return;
  }
  const int above = members.host(parent), below = members.host(member);
  if (tree.flow == Flow::out)
    members.torus().route(above, below, tree.way_of(member), use);
  else
    members.torus().route(below, above, tree.way_of(member), use);
}

/// Trees that are used at once, each for its share of the vector.
using TorusForest = std::vector<TorusTree>;

/// What a forest asks of the links.
struct LinkUse {
  int most = 0;  ///< messages on one link: 1: no two trees, nor two edges of a tree, share any
  LinkId busiest = -1;
  int used = 0;   ///< links that carry something
  int depth = 0;  ///< edges from the root to the farthest member
};
/// Precondition: every tree spans the members.
LinkUse use_of(const TorusMembers& members, std::span<const TorusTree> forest);
/// Of both together.
LinkUse use_of(const TorusMembers& members, std::span<const TorusTree> forest,
               std::span<const TorusTree> other);

/// Why it is no set of spanning trees from `root`, one line, or nothing: a member without a way to
/// the root, a circle, a route that does not lead from one end to the other.
std::optional<std::string> flaw_of(const TorusMembers& members, std::span<const TorusTree> forest,
                                   int root);

}  // namespace unisono
