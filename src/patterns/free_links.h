// Which links of a torus trees have taken, and whether the members keep those that they will need.
#pragma once
#include <cstdint>
#include <vector>

#include "patterns/torus.h"

namespace unisono {

/// A host is a port's at which a link begins or ends, where that may be of use to it: such ports
/// are spare as far as they are not needed.
class FreeLinks {
 public:
  enum End : std::uint8_t { kFrom = 1, kTo = 2 };

  /// All free, no ports.
  explicit FreeLinks(const Torus& torus);

  void make_port(LinkId link, End end);
  /// All free, none needed.
  void reset();
  /// That many more at which links end or begin, or fewer.
  void need(int host, End end, int ports) { add(spare_, host, end, -ports); }

  /// -1: there is no such link.
  int to(LinkId link) const { return to_[static_cast<std::size_t>(link)]; }
  int from(LinkId link) const { return link / ports_; }
  bool is_free(LinkId link) const { return links_[static_cast<std::size_t>(link)] < kOwned; }
  /// Whether it is free and leaves the hosts at its ends what they need. `met`: at which ends it is
  /// what was needed.
  bool may_take(LinkId link, int from, unsigned met) const {
    const auto l = static_cast<std::size_t>(link);
    if (links_[l] >= kOwned) return false;
    const unsigned unmet = links_[l] & ~met;
    return ((unmet & kFrom) == 0 || spare_[static_cast<std::size_t>(from)].from > 0) &&
           ((unmet & kTo) == 0 || spare_[static_cast<std::size_t>(to_[l])].to > 0);
  }
  static constexpr int kMostOwners = 63;
  /// `owner`: 1 to kMostOwners.
  void take(LinkId link, std::uint8_t owner);
  void give_back(std::uint8_t owner);

 private:
  /// A link's entry: its owner, 0 where it is free, times this, and at which ends it is a port's.
  static constexpr std::uint8_t kOwned = 4;
  struct Spare {
    std::int8_t from = 0, to = 0;
  };
  static void add(std::vector<Spare>& spare, int host, End end, int ports) {
    Spare& here = spare[static_cast<std::size_t>(host)];
    auto& at_end = end == kFrom ? here.from : here.to;
    at_end = static_cast<std::int8_t>(at_end + ports);
  }
  void count(std::size_t link, int change);

  int ports_;  // of a host
  std::vector<int> to_;
  std::vector<std::uint8_t> links_;
  std::vector<Spare> spare_, all_spare_;  // by host; where all are free
};

}  // namespace unisono
