#include "patterns/torus_hops.h"

#include <algorithm>
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
/// these dimensions. One after the other, for each dimension of the torus.
class Surroundings {
 public:
  Surroundings(const Torus& torus, std::span<const int> dimensions, std::size_t most)
      : torus_(torus), dimensions_(dimensions), now_(static_cast<std::size_t>(torus.dimensions())) {
    int farthest = 0;
    for (const int d : dimensions) farthest += highest(d);
    for (int distance = 1; distance <= farthest && size() < most; ++distance)
      add(dimensions.size() - 1, distance);
  }
  std::size_t size() const { return steps_.size() / now_.size(); }
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
    int& here = now_[static_cast<std::size_t>(d)];
    const bool last = i + 1 == dimensions_.size();
    for (int n = std::max(-distance, lowest(d)); n <= std::min(distance, highest(d)); ++n) {
      if ((last && n == 0) || (i == 0 && std::abs(n) != distance)) continue;
      here = n;
      if (i == 0)
        steps_.insert(steps_.end(), now_.begin(), now_.end());
      else
        add(i - 1, distance - std::abs(n));
    }
    here = 0;
  }

  const Torus& torus_;
  std::span<const int> dimensions_;
  std::vector<int> now_, steps_;
};

/// The host so many steps away; -1: beyond the end of a mesh.
int host_at(const Torus& torus, std::span<const int> from, std::span<const int> steps) {
  int host = 0, stride = 1;
  for (int d = 0; d < torus.dimensions(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    const int n = torus.size(d);
    int to = from[i] + steps[i];
    if (to < 0 || to >= n) {
      if (!torus.wraps(d)) return -1;
      to += to < 0 ? n : -n;
    }
    host += to * stride;
    stride *= n;
  }
  return host;
}

std::uint16_t shortened(int length) { return static_cast<std::uint16_t>(std::min(length, 0xffff)); }

struct FoundHop {
  int parent = 0;
  Hop hop;
};

class HopSearch {
 public:
  HopSearch(const TorusMembers& members, Flow flow, bool ways)
      : members_(members), flow_(flow), ways_(ways) {
    for (const int host : members.hosts())
      for (int d = 0; d < members.torus().dimensions(); ++d)
        coordinates_.push_back(members.torus().coordinate(host, d));
    const int hosts = members.torus().hosts();
    parents_ = members.size() / 3 * 4 > hosts ? kParentsOfMost : kParents;
    looks_ = static_cast<std::size_t>(std::max(kLeastLooks, kLooks * (hosts / members.size())));
  }

  std::vector<FoundHop> all() {
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
        if (members_.size() <= HopTable::kFewMembers)
          among_all(moving, last_dimension_first);
        else
          nearby(moving, last_dimension_first);
      }
    }
    return std::move(found_);
  }

 private:
  std::span<const int> coordinates(int member) const {
    const auto k = static_cast<std::size_t>(members_.torus().dimensions());
    return std::span(coordinates_).subspan(static_cast<std::size_t>(member) * k, k);
  }

  /// All whose link at the child is in the last of `dimensions`, moving in others of them as well.
  void among_all(std::span<const int> dimensions, bool last_dimension_first) {
    const Torus& torus = members_.torus();
    const int last = dimensions.back();
    std::vector<int> steps(static_cast<std::size_t>(torus.dimensions()));
    for (int child = 0; child < members_.size(); ++child) {
      const std::size_t before = found_.size();
      bool above = false, below = false;
      for (int parent = 0; parent < members_.size(); ++parent) {
        bool within = true;
        for (int d = 0; d < torus.dimensions(); ++d) {
          const auto i = static_cast<std::size_t>(d);
          const int n = torus.size(d);
          int step = coordinates(parent)[i] - coordinates(child)[i];
          if (torus.wraps(d) && 2 * step > n) step -= n;
          if (torus.wraps(d) && 2 * step <= -n) step += n;
          steps[i] = step;
          within = within && (step == 0 || std::ranges::count(dimensions, d) > 0);
        }
        const int port_steps = steps[static_cast<std::size_t>(last)];
        if (!within || port_steps == 0) continue;
        (port_steps > 0 ? above : below) = true;
        add(parent, child, steps, last, last_dimension_first);
      }
      if (ways_ && above != below && torus.wraps(last))
        go_round(before, last, !above, last_dimension_first);
    }
  }

  /// Of those the nearest, from hosts up to some distance.
  void nearby(std::span<const int> dimensions, bool last_dimension_first) {
    const Torus& torus = members_.torus();
    const Surroundings around(torus, dimensions, looks_);
    const auto d = static_cast<std::size_t>(dimensions.back());
    for (int child = 0; child < members_.size(); ++child) {
      const std::size_t before = found_.size();
      int above = 0, below = 0;
      for (std::size_t i = 0; i < around.size() && (above < parents_ || below < parents_); ++i) {
        const auto steps = around[i];
        int& side = steps[d] > 0 ? above : below;
        if (side >= parents_) continue;
        const int host = host_at(torus, coordinates(child), steps);
        const int parent = host < 0 ? -1 : members_.member(host);
        if (parent < 0) continue;
        ++side;
        add(parent, child, steps, dimensions.back(), last_dimension_first);
      }
      if (ways_ && (above == 0) != (below == 0) && torus.wraps(dimensions.back()))
        go_round(before, dimensions.back(), above == 0, last_dimension_first);
    }
  }

  void add(int parent, int child, std::span<const int> steps, int d, bool last_dimension_first) {
    int length = 0, moved = 0;
    for (const int n : steps) {
      length += std::abs(n);
      moved += n != 0;
    }
    // Straight messages are the same in either order, and were found before.
    if (last_dimension_first && moved == 1) return;
    const Way way{0, last_dimension_first};
    found_.push_back(
        {parent, {child, port(parent, child, d, way), shortened(length), way.number()}});
  }

  /// The same, the other way round their rings, because no parent is on that side.
  void go_round(std::size_t first, int dimension, bool from_above, bool last_dimension_first) {
    const int sign = from_above == (flow_ == Flow::out) ? -1 : 1;
    const Way way{static_cast<std::int8_t>(sign), last_dimension_first};
    const std::size_t last = found_.size();
    for (std::size_t i = first; i < last; ++i) {
      FoundHop other = found_[i];
      const int parent = members_.host(other.parent), child = members_.host(other.hop.child);
      other.hop.way = way.number();
      other.hop.port = port(other.parent, other.hop.child, dimension, way);
      other.hop.length =
          shortened(flow_ == Flow::out ? members_.torus().distance(parent, child, way)
                                       : members_.torus().distance(child, parent, way));
      found_.push_back(other);
    }
  }

  LinkId port(int parent, int child, int d, Way way) const {
    const Torus& torus = members_.torus();
    const auto at = [&](int member) {
      return coordinates_[static_cast<std::size_t>(member * torus.dimensions() + d)];
    };
    const int below = members_.host(child);
    if (flow_ == Flow::in)
      return torus.link(below, d, torus.direction(at(child), at(parent), d, way.direction));
    const int sign = torus.direction(at(parent), at(child), d, way.direction);
    return torus.link(torus.neighbour(below, d, -sign), d, sign);
  }

  const TorusMembers& members_;
  Flow flow_;
  bool ways_;
  int parents_;
  std::size_t looks_;
  std::vector<int> coordinates_;  // of members
  std::vector<FoundHop> found_;
};

}  // namespace

HopTable::HopTable(const TorusMembers& members, Flow flow, bool ways)
    : first_(static_cast<std::size_t>(members.size()) + 1) {
  const auto found = HopSearch(members, flow, ways).all();
  for (const FoundHop& hop : found) ++first_[static_cast<std::size_t>(hop.parent) + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  hops_.resize(found.size());
  auto next = first_;
  for (const FoundHop& hop : found) hops_[next[static_cast<std::size_t>(hop.parent)]++] = hop.hop;
  for (std::size_t p = 0; p + 1 < first_.size(); ++p)
    std::stable_sort(hops_.begin() + static_cast<std::ptrdiff_t>(first_[p]),
                     hops_.begin() + static_cast<std::ptrdiff_t>(first_[p + 1]),
                     [](const Hop& a, const Hop& b) { return a.length < b.length; });
}

}  // namespace unisono
