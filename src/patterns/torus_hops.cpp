#include "patterns/torus_hops.h"

#include <array>
#include <cstdlib>
#include <numeric>

namespace unisono {

namespace {

/// So many parents a link of a child are enough: all where members are few, fewer in the other
/// order of dimensions, and where most hosts are members.
constexpr int kParents = 4, kParentsTurned = 3, kParentsOfMost = 2;
/// Hosts looked at in all, to a host of the torus and a link of a child; at least so many a child.
constexpr int kLooks = 64, kLeastLooks = 32;

/// Steps in some dimensions from a child to its parents, nearest first, not none in the last of
/// these dimensions. One after the other, for each of these dimensions.
class Surroundings {
 public:
  Surroundings(const Torus& torus, std::span<const int> dimensions, std::size_t most)
      : torus_(torus), dimensions_(dimensions), now_(dimensions.size()) {
    int farthest = 0;
    for (const int d : dimensions) farthest += highest(d);
    for (int distance = 1; distance <= farthest && size() < most; ++distance)
      add(dimensions.size() - 1, distance);
  }
  std::size_t size() const { return size_; }
  std::span<const int> operator[](std::size_t i) const {
    return std::span(steps_).subspan(i * now_.size(), now_.size());
  }

 private:
  int highest(int d) const { return torus_.wraps(d) ? torus_.size(d) / 2 : torus_.size(d) - 1; }
  int lowest(int d) const {
    return torus_.wraps(d) ? -((torus_.size(d) - 1) / 2) : 1 - torus_.size(d);
  }

  void add(std::size_t i, int distance) {
    const int d = dimensions_[i];
    int& here = now_[i];
    const bool last = i + 1 == dimensions_.size();
    for (int n = std::max(-distance, lowest(d)); n <= std::min(distance, highest(d)); ++n) {
      if ((last && n == 0) || (i == 0 && std::abs(n) != distance)) continue;
      here = n;
      if (i > 0) {
        add(i - 1, distance - std::abs(n));
        continue;
      }
      steps_.insert(steps_.end(), now_.begin(), now_.end());
      ++size_;
    }
    here = 0;
  }

  const Torus& torus_;
  std::span<const int> dimensions_;
  std::size_t size_ = 0;
  std::vector<int> now_, steps_;
};

/// What a coordinate adds to a host's number, of coordinates that lie up to a ring's length beyond
/// its ends as well; so much less than nothing where a mesh has no such host.
class Contributions {
 public:
  explicit Contributions(const Torus& torus) {
    int stride = 1;
    for (int d = 0; d < torus.dimensions(); ++d) {
      const int n = torus.size(d);
      first_.push_back(added_.size() + static_cast<std::size_t>(n));
      for (int c = -n; c < 2 * n; ++c)
        added_.push_back(c >= 0 && c < n  ? c * stride
                         : torus.wraps(d) ? (c + (c < 0 ? n : -n)) * stride
                                          : -torus.hosts());
      stride *= n;
    }
  }
  /// Add steps to it.
  const int* at(int dimension, int coordinate) const {
    return added_.data() + first_[static_cast<std::size_t>(dimension)] + coordinate;
  }

 private:
  std::vector<std::size_t> first_;  // by dimension: where coordinate 0 is
  std::vector<int> added_;
};

/// A place in a child's surroundings.
struct Near {
  Hop hop;            ///< of a parent there; but for who that is
  bool above, tie;    ///< in the last dimension; half a ring away in it
  bool known_before;  ///< a parent there has been found
};

class HopSearch {
 public:
  HopSearch(const TorusMembers& members, const MemberPlaces& places, Flow flow, bool ways)
      : members_(members), places_(places), flow_(flow), ways_(ways), added_(members.torus()) {
    const int hosts = members.torus().hosts();
    parents_ = members.size() / 3 * 4 > hosts ? kParentsOfMost : kParents;
    looks_ = static_cast<std::size_t>(std::max(kLeastLooks, kLooks * (hosts / members.size())));
    search();
  }

  /// Calls use(child, hop) for each in the order in which they are found; the others are parents.
  template <class Use>
  void for_all(Use&& use) const {
    for (const Pass& pass : passes_) {
      auto hop = pass.found.begin();
      for (int child = 0; child < members_.size(); ++child)
        for (int left = pass.counts[static_cast<std::size_t>(child)]; left > 0; --left)
          use(child, *hop++);
    }
  }
  std::size_t size() const {
    std::size_t all = 0;
    for (const Pass& pass : passes_) all += pass.found.size();
    return all;
  }

 private:
  /// Of one last dimension and order.
  struct Pass {
    std::vector<Hop> found;            // child by child
    std::vector<std::uint8_t> counts;  // by child
  };

  void search() {
    for (const bool last_dimension_first : {false, true}) {
      if (last_dimension_first && !ways_) break;
      std::vector<int> dimensions(static_cast<std::size_t>(members_.torus().dimensions()));
      std::iota(dimensions.begin(), dimensions.end(), 0);
      // The child's link is that of the last dimension that is routed, seen from the parent.
      if ((flow_ == Flow::out) == last_dimension_first)
        std::reverse(dimensions.begin(), dimensions.end());
      for (std::size_t i = last_dimension_first ? 1 : 0; i < dimensions.size(); ++i) {
        const auto moving = std::span(dimensions).first(i + 1);
        if (last_dimension_first) parents_ = std::min(parents_, kParentsTurned);
        passes_.emplace_back().counts.reserve(static_cast<std::size_t>(members_.size()));
        if (members_.size() <= HopTable::kFewMembers)
          among_all(moving, last_dimension_first);
        else
          nearby(moving, last_dimension_first);
      }
    }
  }

  /// All whose link at the child is in the last of `dimensions`, moving in others of them as well.
  void among_all(std::span<const int> dimensions, bool last_dimension_first) {
    auto& [found, counts] = passes_.back();
    const Torus& torus = members_.torus();
    const int last = dimensions.back();
    std::vector<int> steps(dimensions.size());
    std::vector<bool> moves(static_cast<std::size_t>(torus.dimensions()));
    for (const int d : dimensions) moves[static_cast<std::size_t>(d)] = true;
    for (int child = 0; child < members_.size(); ++child) {
      const std::size_t before = found.size();
      bool above = false, below = false;
      for (int parent = 0; parent < members_.size(); ++parent) {
        bool within = true;
        for (int d = 0; d < torus.dimensions() && within; ++d)
          within =
              moves[static_cast<std::size_t>(d)] || places_.at(parent, d) == places_.at(child, d);
        if (!within || places_.at(parent, last) == places_.at(child, last)) continue;
        for (std::size_t i = 0; i < dimensions.size(); ++i) {
          const int d = dimensions[i], n = torus.size(d);
          int step = places_.at(parent, d) - places_.at(child, d);
          if (torus.wraps(d) && 2 * step > n) step -= n;
          if (torus.wraps(d) && 2 * step <= -n) step += n;
          steps[i] = step;
        }
        (steps.back() > 0 ? above : below) = true;
        const Near at = near_of(steps, last, last_dimension_first);
        if (at.known_before) continue;
        found.push_back(at.tie ? tied(parent, child, at, last) : at.hop.with(parent));
      }
      if (ways_ && above != below && torus.wraps(last))
        go_round(before, child, last, !above, last_dimension_first);
      counts.push_back(static_cast<std::uint8_t>(found.size() - before));
    }
  }

  /// Of those the nearest, from hosts up to some distance.
  void nearby(std::span<const int> dimensions, bool last_dimension_first) {
    auto& [found, counts] = passes_.back();
    found.reserve(static_cast<std::size_t>(2 * parents_ * members_.size()));
    const int last = dimensions.back();
    const Surroundings around(members_.torus(), dimensions, looks_);
    std::vector<Near> near;
    for (std::size_t i = 0; i < around.size(); ++i)
      near.push_back(near_of(around[i], last, last_dimension_first));
    std::vector<const int*> added(dimensions.size());
    for (int child = 0; child < members_.size(); ++child) {
      const std::size_t before = found.size();
      int still = members_.host(child);
      for (std::size_t d = 0; d < dimensions.size(); ++d) {
        added[d] = added_.at(dimensions[d], places_.at(child, dimensions[d]));
        still -= *added[d];
      }
      int left[] = {parents_, parents_};  // below, above
      std::array<Hop, 2 * kParents + 1> parents;
      std::size_t count = 0;
      // Who is a member is as good as random: no branch depends on it, and the last entry is not
      // counted until it is of one.
      for (std::size_t i = 0; i < near.size() && left[0] + left[1] > 0; ++i) {
        const Near& at = near[i];
        int host = still;
        for (std::size_t d = 0; d < added.size(); ++d) host += added[d][around[i][d]];
        const int parent = members_.member(std::max(host, 0));
        const bool taken = (host >= 0) & (parent >= 0) & (left[at.above] > 0);
        left[at.above] -= taken;
        parents[count] = at.tie ? tied(parent, child, at, last) : at.hop.with(parent);
        count += taken & !at.known_before;
      }
      found.insert(found.end(), parents.begin(), parents.begin() + count);
      if (ways_ && (left[0] == parents_) != (left[1] == parents_) && members_.torus().wraps(last))
        go_round(before, child, last, left[1] == parents_, last_dimension_first);
      counts.push_back(static_cast<std::uint8_t>(found.size() - before));
    }
  }

  Near near_of(std::span<const int> steps, int d, bool last_dimension_first) const {
    int length = 0, moved = 0;
    for (const int n : steps) {
      length += std::abs(n);
      moved += n != 0;
    }
    const bool above = steps.back() > 0, downwards = above == (flow_ == Flow::out);
    const Way way{0, last_dimension_first};
    // Straight messages are the same in either order, and were found before.
    return {.hop = Hop(0, 2 * d + (downwards ? 1 : 0), way, length),
            .above = above,
            .tie = members_.torus().wraps(d) && 2 * steps.back() == members_.torus().size(d),
            .known_before = last_dimension_first && moved == 1};
  }

  /// The hop where both ways round the last ring are as long.
  Hop tied(int parent, int child, const Near& at, int d) const {
    if (parent < 0) return at.hop;
    return Hop(parent, port(parent, child, d, at.hop.way()), at.hop.way(), at.hop.length());
  }

  /// The same, the other way round their rings, because no parent is on that side.
  void go_round(std::size_t first, int child, int dimension, bool from_above,
                bool last_dimension_first) {
    auto& found = passes_.back().found;
    const int sign = from_above == (flow_ == Flow::out) ? -1 : 1;
    const Way way{static_cast<std::int8_t>(sign), last_dimension_first};
    const std::size_t last = found.size();
    for (std::size_t i = first; i < last; ++i) {
      const int parent = found[i].other();
      const int above = members_.host(parent), below = members_.host(child);
      const int length = flow_ == Flow::out ? members_.torus().distance(above, below, way)
                                            : members_.torus().distance(below, above, way);
      found.emplace_back(parent, port(parent, child, dimension, way), way, length);
    }
  }

  /// As Hop has it.
  int port(int parent, int child, int d, Way way) const {
    const int above = places_.at(parent, d), below = places_.at(child, d);
    const int sign = flow_ == Flow::in ? members_.torus().direction(below, above, d, way.direction)
                                       : members_.torus().direction(above, below, d, way.direction);
    return 2 * d + (sign < 0 ? 1 : 0);
  }

  const TorusMembers& members_;
  const MemberPlaces& places_;
  Flow flow_;
  bool ways_;
  int parents_;
  std::size_t looks_;
  Contributions added_;
  std::vector<Pass> passes_;
};

}  // namespace

MemberPlaces::MemberPlaces(const TorusMembers& members)
    : dimensions_(members.torus().dimensions()) {
  coordinates_.reserve(static_cast<std::size_t>(members.size() * dimensions_));
  for (const int host : members.hosts())
    for (int d = 0; d < dimensions_; ++d)
      coordinates_.push_back(members.torus().coordinate(host, d));
}

HopTable::HopTable(const TorusMembers& members, const MemberPlaces& places, Flow flow, bool ways)
    : first_(static_cast<std::size_t>(members.size()) + 1) {
  const HopSearch found(members, places, flow, ways);
  // Each parent's begin where those of the parent before end, which is where filling them in gets.
  std::uint32_t* const next = first_.data() + 1;
  found.for_all([&](int, Hop hop) { ++next[hop.other()]; });
  std::exclusive_scan(first_.begin() + 1, first_.end(), first_.begin() + 1, std::uint32_t{0});
  hops_.resize(found.size());
  found.for_all([&](int child, Hop hop) { hops_[next[hop.other()]++] = hop.with(child); });
  sort();
}

/// By length, those that are as long in the order in which they were found.
void HopTable::sort() {
  std::array<std::uint32_t, Hop::kLong + 1> place{};
  std::vector<Hop> sorted;
  for (std::size_t p = 0; p + 1 < first_.size(); ++p) {
    const std::span hops(hops_.data() + first_[p], first_[p + 1] - first_[p]);
    int longest = 0;
    for (const Hop& hop : hops) {
      ++place[static_cast<std::size_t>(hop.length())];
      longest = std::max(longest, hop.length());
    }
    const auto end = place.begin() + longest + 1;
    std::exclusive_scan(place.begin(), end, place.begin(), std::uint32_t{0});
    sorted.resize(hops.size());
    for (const Hop& hop : hops) sorted[place[static_cast<std::size_t>(hop.length())]++] = hop;
    std::copy(sorted.begin(), sorted.end(), hops.begin());
    std::fill(place.begin(), end, 0);
  }
}

}  // namespace unisono
