// Trees that share no link, grown together; what greedy_trees() tries more than once.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "patterns/free_links.h"
#include "patterns/torus_hops.h"
#include "patterns/torus_trees.h"

namespace unisono {

class Packing {
 public:
  /// At most that many trees in all.
  static constexpr int kMostTrees = FreeLinks::kMostOwners;

  /// See HopTable for how many members and dimensions there may be.
  Packing(const TorusMembers& members, int root, TreesFor use, Routing routing);

  /// `count` trees, of each flow where there are both. With `fewer`, trees that cannot go on are
  /// given up; otherwise nothing then, nor when work() reaches `most_work`: at which, with `fewer`,
  /// trees are given up for those that are left. `turn`: another choice among equals each.
  std::optional<TorusTrees> grow(int count, std::uint32_t turn, bool fewer, std::int64_t most_work);

  /// Messages to choose from.
  std::size_t hops() const { return (out_ ? out_->size() : 0) + (in_ ? in_->size() : 0); }
  /// Messages and links looked at so far.
  std::int64_t work() const { return work_; }

 private:
  struct Tree {
    Flow flow = Flow::out;
    std::uint8_t number = 0;
    bool given_up = false;
    int size = 1;
    std::vector<std::int16_t> parent;  // by member; kNotYet: not in it
    std::vector<std::uint8_t> ways;    // by member
    std::vector<int> routes;           // a member, how many links, and they; and another
    std::vector<std::uint16_t> depth;  // by member
    std::vector<std::uint16_t> next;   // by member: of its hops
    // Members by how good their next hop is: those that wait last come first, and name the one
    // before.
    std::vector<std::int16_t> waiting, before;
    std::size_t best = 0;  // none waits with a better one

    bool has(int member) const { return parent[static_cast<std::size_t>(member)] != kNotYet; }
    bool is_out() const { return flow == Flow::out; }
    // At which of the ends of its link a member gets, and its parent has, what it needs.
    FreeLinks::End end_of_child() const { return is_out() ? FreeLinks::kTo : FreeLinks::kFrom; }
    FreeLinks::End end_of_parent() const { return is_out() ? FreeLinks::kFrom : FreeLinks::kTo; }
  };
  static constexpr std::int16_t kNotYet = -2;
  static constexpr std::int16_t kNobody = -1;

  std::span<const Hop> hops_of(const Tree& tree, int member) const {
    return (tree.is_out() ? *out_ : *in_).of(member);
  }
  LinkId link_of(const Tree& tree, int child, int port) const;
  void make_ports(const HopTable& hops, Flow flow);
  void make_all_ports(Flow flow);
  void start(Tree& tree);
  void wait(Tree& tree, int member);
  Tree* smallest(std::optional<Flow> flow);
  bool extend(Tree& tree);
  unsigned met(const Tree& tree, int from, int to) const;
  bool walk(const Tree& tree, int parent, Hop hop);
  bool take(Tree& tree, int parent, Hop hop);
  bool search(Tree& tree, int child);
  void retrace(bool out, int there);
  void follow(Tree& tree, int parent, std::uint8_t way);
  void add(Tree& tree, int member, int parent);
  void give_up(Tree& tree);
  void retry();
  TorusTrees result();
  TorusTree done(Tree& tree) const;

  const TorusMembers& members_;
  int root_;
  TreesFor use_;
  Routing routing_;
  MemberPlaces places_;
  std::optional<HopTable> out_, in_;
  FreeLinks links_;
  std::vector<Tree> trees_;
  std::vector<LinkId> path_;   // from the tree to the new member
  std::vector<LinkId> route_;  // of it what one member's message takes
  std::uint32_t turn_ = 0, seed_ = 0;
  std::int64_t work_ = 0, most_work_ = 0;
  // Of search(), by host: in which search it was last seen, and by which port it was arrived at.
  std::uint8_t searches_ = 0;
  std::vector<std::uint8_t> seen_, arrived_;
  std::vector<int> queue_;
};

}  // namespace unisono
