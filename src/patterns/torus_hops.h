// Which messages between members of a torus a greedy construction looks at: for each member those
// from the nearest others, by the link that they arrive on.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "patterns/torus_forest.h"

namespace unisono {

/// A message between a parent, whose hop it is, and a child.
struct Hop {
  int child = 0;
  LinkId port = 0;           ///< the link at the child
  std::uint16_t length = 0;  ///< in links, if it is not more
  std::uint8_t way = 0;
};

class HopTable {
 public:
  /// Of so many every message is looked at.
  static constexpr int kFewMembers = 128;

  /// Of messages from parents to children (out) or the other way (in). `ways`: both orders of
  /// dimensions and every direction may be asked for. For each child and each of its links the
  /// nearest few parents, or all, where members are few. O(hosts k).
  HopTable(const TorusMembers& members, Flow flow, bool ways);

  /// Shortest first.
  std::span<const Hop> of(int parent) const {
    const auto p = static_cast<std::size_t>(parent);
    return {hops_.data() + first_[p], first_[p + 1] - first_[p]};
  }
  std::size_t size() const { return hops_.size(); }

 private:
  std::vector<std::size_t> first_;  // by parent
  std::vector<Hop> hops_;
};

}  // namespace unisono
