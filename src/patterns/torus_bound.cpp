#include "patterns/torus_bound.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace unisono {

namespace {

enum class RouteEnd : std::uint8_t { first, last };

/// Some members' shadow: where they are when some dimensions are not looked at.
class Shadow {
 public:
  enum class Looks : std::uint8_t { up_to, from_on };

  /// Looks at dimension `d` and those before it or behind it.
  Shadow(const TorusMembers& members, Looks looks, int d)
      : torus_(members.torus()), dimension_(d), n_(torus_.size(d)) {
    for (int i = 0; i < d; ++i) (looks == Looks::up_to ? stride_ : below_) *= torus_.size(i);
    size_ = looks == Looks::up_to ? stride_ * n_ : torus_.hosts() / below_;
    there_.resize(static_cast<std::size_t>(size_));
    for (const int host : members.hosts()) there_[static_cast<std::size_t>(of(host))] = 1;
  }

  /// In which directions members differ from this host, to them or from them, as seen here; with
  /// `any`, both round a ring if they do at all. A bit each.
  unsigned directions(int host, RouteEnd end, bool any) const {
    const int shadow = of(host), here = stride_ == 1 ? shadow % n_ : shadow / stride_;
    const int first = shadow - here * stride_;
    if (any && torus_.wraps(dimension_)) return reaches(first, here, n_ - 1, 1) ? 3 : 0;
    unsigned found = 0;
    for (const int side : {1, -1}) {
      int farthest = side > 0 ? n_ - 1 - here : here;
      if (torus_.wraps(dimension_)) farthest = n_ / 2 - (is_other_way(here, side, end) ? 1 : 0);
      if (reaches(first, here, farthest, side)) found |= side > 0 ? 1 : 2;
    }
    return found;
  }

 private:
  int of(int host) const { return below_ == 1 ? host % size_ : host / below_; }

  /// Whether what is half a ring away on this side is reached round the other.
  bool is_other_way(int here, int side, RouteEnd end) const {
    if (n_ % 2 != 0) return false;
    const int there = here < n_ / 2 ? here + n_ / 2 : here - n_ / 2;
    return end == RouteEnd::first ? torus_.direction(here, there, dimension_, 0) != side
                                  : torus_.direction(there, here, dimension_, 0) != -side;
  }

  /// Nearest first: where members are many there is one soon.
  bool reaches(int first, int here, int farthest, int side) const {
    for (int there = here, step = 1; step <= farthest; ++step) {
      there = there + side == n_ ? 0 : there + side < 0 ? n_ - 1 : there + side;
      if (there_[static_cast<std::size_t>(first + there * stride_)] != 0) return true;
    }
    return false;
  }

  const Torus& torus_;
  int dimension_, n_, stride_ = 1, below_ = 1, size_;
  std::vector<std::uint8_t> there_;
};

/// Counts the links that messages between members begin or end with.
class BoundPorts {
 public:
  BoundPorts(const TorusMembers& members, Routing routing) : members_(members), routing_(routing) {
    const int dimensions = members.torus().dimensions();
    if (routing != Routing::minimal && routing != Routing::directed) return;
    for (int d = 0; d < dimensions; ++d) {
      before_.emplace_back(members, Shadow::Looks::up_to, d);
      behind_.emplace_back(members, Shadow::Looks::from_on, d);
    }
  }

  int of(int member, RouteEnd end) const {
    int ports = 0;
    for (int d = 0; d < members_.torus().dimensions(); ++d)
      if (members_.torus().size(d) > 1)
        ports += routing_ == Routing::source || routing_ == Routing::adaptive
                     ? neighbours(members_.host(member), d)
                     : routed(members_.host(member), d, end);
    return ports;
  }

 private:
  int neighbours(int host, int d) const {
    if (routing_ == Routing::source && members_.torus().wraps(d)) return 2;
    int found = 0;
    for (const int sign : {1, -1}) {
      const int neighbour = members_.torus().neighbour(host, d, sign);
      found += neighbour >= 0 && (routing_ == Routing::source || members_.member(neighbour) >= 0);
    }
    return found;
  }

  int routed(int host, int d, RouteEnd end) const {
    // Begins with d: nothing before it changes; ends with d: nothing behind it does.
    const auto i = static_cast<std::size_t>(d);
    const auto& standard = end == RouteEnd::first ? before_ : behind_;
    const auto& turned = end == RouteEnd::first ? behind_ : before_;
    const bool any = routing_ == Routing::directed;
    unsigned found = standard[i].directions(host, end, any);
    if (any && found != 3) found |= turned[i].directions(host, end, any);
    return std::popcount(found);
  }

  const TorusMembers& members_;
  Routing routing_;
  std::vector<Shadow> before_, behind_;  // by dimension
};

}  // namespace

int port_bound(const TorusMembers& members, int root, TreesFor use, Routing routing) {
  if (members.size() == 1) return 0;
  const BoundPorts ports(members, routing);
  int least = std::numeric_limits<int>::max();
  for (int member = 0; member < members.size(); ++member) {
    const bool sends = member == root;
    if (use != TreesFor::reduction)
      least = std::min(least, ports.of(member, sends ? RouteEnd::first : RouteEnd::last));
    if (use != TreesFor::broadcast)
      least = std::min(least, ports.of(member, sends ? RouteEnd::last : RouteEnd::first));
  }
  const Torus& torus = members.torus();
  int links = 0;
  for (int d = 0; d < torus.dimensions(); ++d) {
    const int n = torus.size(d), lines = torus.hosts() / n;
    links += 2 * lines * (torus.wraps(d) ? n : n - 1);
  }
  const int forests = use == TreesFor::both ? 2 : 1;
  return std::min(least, links / (forests * (members.size() - 1)));
}

}  // namespace unisono
