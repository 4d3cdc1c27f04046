// The ranks of a communicator on the hosts of a torus, and the trees over these hosts.
#pragma once
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "patterns/interval_tree.h"
#include "patterns/torus_trees.h"
#include "schedule/schedule.h"

namespace unisono {

/// On which hosts ranks are; without a torus nothing is known.
struct TorusHosts {
  std::shared_ptr<const Torus> torus;
  Routing routing = Routing::minimal;
  std::vector<int> of_rank;
  bool as_cart = false;  ///< of communicators with a Cartesian topology, that is one

  /// Whether any communicator may be on it.
  bool is_described() const { return torus != nullptr || as_cart; }
  TorusHosts restricted_to(std::span<const int> ranks) const;
};

/// A tree of ranks over a tree of hosts: of each host one rank, its leader, is in the latter, the
/// others are a chain behind it. Leaders differ from tree to tree; the root leads its own host.
struct RankTree {
  /// Rank r's children are those [first_child[r], first_child[r + 1]).
  std::span<const int> children(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return {child.data() + first_child[r], child.data() + first_child[r + 1]};
  }
  int parent_of(int rank) const { return parent[static_cast<std::size_t>(rank)]; }
  /// Of the messages between a rank and its parent, as in Op.
  std::uint8_t way_of(int rank) const { return way[static_cast<std::size_t>(rank)]; }

  int root = 0;
  int depth = 0;            ///< edges from the root to the farthest rank
  std::vector<int> parent;  ///< -1: the root
  std::vector<std::uint8_t> way;
  std::vector<int> first_child;  ///< p + 1 entries
  std::vector<int> child;        ///< of all ranks, one behind the other
};

class TorusPlacement {
 public:
  /// Precondition: a torus, and a host of it for every rank.
  explicit TorusPlacement(const TorusHosts& hosts);
  TorusPlacement(const TorusPlacement&) = delete;
  TorusPlacement& operator=(const TorusPlacement&) = delete;

  const TorusMembers& members() const { return members_; }
  Routing routing() const { return routing_; }
  int member_of(int rank) const { return member_of_[static_cast<std::size_t>(rank)]; }
  const RankGroup& ranks_on(int member) const {
    return ranks_on_[static_cast<std::size_t>(member)];
  }
  int host_of(int rank) const { return members_.host(member_of(rank)); }
  /// Whether hosts have their ranks in the order of their numbers.
  bool in_rank_order() const { return in_rank_order_; }

  /// See make_trees(); null: there are none of this kind. The last few are kept. Thread-safe, no
  /// communication.
  std::shared_ptr<const TorusTrees> trees(TreeKind kind, int root_rank, TreesFor use) const;

  /// Of all ranks; O(ranks). `number`: of the tree in its forest.
  RankTree rank_tree(const TorusTree& tree, int number, int root_rank) const;

  /// A rank in the tree over the lines of the torus, over the planes, and so on; those of one host
  /// are a line. Precondition: in_rank_order().
  IntervalNode interval_node(int rank) const;

  /// As if the ranks were on a ring, one on each host.
  static TorusHosts ring(int ranks);

 private:
  struct Kept {
    TreeKind kind;
    int root;
    TreesFor use;
    std::shared_ptr<const TorusTrees> trees;
  };

  int leader(int member, int number, int root_rank) const;

  Routing routing_;
  TorusMembers members_;
  std::vector<RankGroup> ranks_on_;  // by member
  std::vector<int> member_of_;       // by rank
  bool in_rank_order_;
  mutable std::mutex mutex_;
  mutable std::list<Kept> kept_;  // the last one used first
};

}  // namespace unisono
