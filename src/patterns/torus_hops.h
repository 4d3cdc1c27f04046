// Which messages between members of a torus a greedy construction looks at: for each member those
// from the nearest others, by the link that they arrive on.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "patterns/torus_forest.h"

namespace unisono {

/// The members' coordinates, looked up rather than divided for.
class MemberPlaces {
 public:
  explicit MemberPlaces(const TorusMembers& members);

  std::span<const int> of(int member) const {
    const auto k = static_cast<std::size_t>(dimensions_);
    return std::span(coordinates_).subspan(static_cast<std::size_t>(member) * k, k);
  }
  int at(int member, int dimension) const {
    return coordinates_[static_cast<std::size_t>(member * dimensions_ + dimension)];
  }

 private:
  int dimensions_;
  std::vector<int> coordinates_;
};

/// A message between a member, whose hop it is, and another: four bytes, since there are dozens of
/// them a member.
class Hop {
 public:
  static constexpr int kMostMembers = 1 << 14, kMostDimensions = 32;
  /// In links; longer ones have this length.
  static constexpr int kLong = (1 << 9) - 1;

  Hop() = default;
  /// `port`: twice the dimension of the link at the child, plus 1 where it leads downwards.
  Hop(int other, int port, Way way, int length)
      : bits_(static_cast<std::uint32_t>(std::min(length, kLong)) << 23 |
              static_cast<std::uint32_t>(way.number()) << 20 |
              static_cast<std::uint32_t>(port) << 14 | static_cast<std::uint32_t>(other)) {}

  int other() const { return static_cast<int>(bits_ & (kMostMembers - 1)); }
  int port() const { return static_cast<int>(bits_ >> 14 & 63); }
  Way way() const { return Way::numbered(static_cast<std::uint8_t>(bits_ >> 20 & 7)); }
  int length() const { return static_cast<int>(bits_ >> 23); }
  Hop with(int other) const {
    Hop same = *this;
    same.bits_ = (bits_ & ~std::uint32_t{kMostMembers - 1}) | static_cast<std::uint32_t>(other);
    return same;
  }

 private:
  std::uint32_t bits_ = 0;
};

/// By parent: the others are children.
class HopTable {
 public:
  /// Of so many every message is looked at.
  static constexpr int kFewMembers = 128;

  /// Of messages from parents to children (out) or the other way (in). `ways`: both orders of
  /// dimensions and every direction may be asked for. For each child and each of its links the
  /// nearest few parents, or all, where members are few. No more members, nor dimensions, than a
  /// hop can name. O(hosts k).
  HopTable(const TorusMembers& members, const MemberPlaces& places, Flow flow, bool ways);

  /// Shortest first; no more than so many, though no member is near to nearly as many.
  static constexpr std::uint32_t kMostHops = 0xffff;
  std::span<const Hop> of(int parent) const {
    const auto p = static_cast<std::size_t>(parent);
    return {hops_.data() + first_[p], std::min(first_[p + 1] - first_[p], kMostHops)};
  }
  std::size_t size() const { return hops_.size(); }

 private:
  void sort();

  std::vector<std::uint32_t> first_;  // by parent
  std::vector<Hop> hops_;
};

}  // namespace unisono
