#include "patterns/torus_bound.h"

#include <algorithm>
#include <limits>

namespace unisono {

namespace {

enum class RouteEnd : std::uint8_t { first, last };

/// Some members' shadow: where they are when some dimensions are not looked at.
class Shadow {
 public:
  /// Looks at dimensions from `first` to before `end`.
  Shadow(const TorusMembers& members, int first, int end)
      : torus_(members.torus()),
        first_(first),
        end_(end),
        there_(static_cast<std::size_t>(torus_.hosts())) {
    for (const int host : members.hosts()) there_[of(host)] = true;
  }

  /// Whether a member differs from this host in dimension d, as seen here, and in this direction,
  /// to it or from it, or in any.
  bool lies(int host, int d, int sign, RouteEnd end, bool any) const {
    const int here = torus_.coordinate(host, d);
    for (int there = 0; there < torus_.size(d); ++there) {
      if (there == here || !there_[of(torus_.moved(host, d, there))]) continue;
      const int towards = end == RouteEnd::first ? torus_.direction(here, there, d, 0)
                                                 : torus_.direction(there, here, d, 0);
      if (towards == sign || (any && torus_.wraps(d))) return true;
    }
    return false;
  }

 private:
  std::size_t of(int host) const {
    for (int d = 0; d < torus_.dimensions(); ++d)
      if (d < first_ || d >= end_) host = torus_.moved(host, d, 0);
    return static_cast<std::size_t>(host);
  }

  const Torus& torus_;
  int first_, end_;
  std::vector<bool> there_;
};

/// Counts the links that messages between members begin or end with.
class BoundPorts {
 public:
  BoundPorts(const TorusMembers& members, Routing routing) : members_(members), routing_(routing) {
    const int dimensions = members.torus().dimensions();
    if (routing != Routing::minimal && routing != Routing::directed) return;
    for (int d = 0; d < dimensions; ++d) {
      before_.emplace_back(members, 0, d + 1);
      behind_.emplace_back(members, d, dimensions);
    }
  }

  int of(int member, RouteEnd end) const {
    int ports = 0;
    for (int d = 0; d < members_.torus().dimensions(); ++d)
      for (const int sign : {1, -1}) ports += is_port(members_.host(member), d, sign, end);
    return ports;
  }

 private:
  bool is_port(int host, int d, int sign, RouteEnd end) const {
    const Torus& torus = members_.torus();
    // Where the message comes from, or where it goes.
    const int neighbour = torus.neighbour(host, d, end == RouteEnd::first ? sign : -sign);
    if (neighbour < 0 || torus.size(d) == 1) return false;
    if (routing_ == Routing::source) return true;
    if (routing_ == Routing::adaptive) return members_.member(neighbour) >= 0;
    // Begins with d: nothing before it changes; ends with d: nothing behind it does.
    const auto i = static_cast<std::size_t>(d);
    const auto& standard = end == RouteEnd::first ? before_ : behind_;
    const auto& turned = end == RouteEnd::first ? behind_ : before_;
    const bool any = routing_ == Routing::directed;
    return standard[i].lies(host, d, sign, end, any) ||
           (any && turned[i].lies(host, d, sign, end, any));
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
  for (LinkId link = 0; link < torus.links(); ++link) links += torus.exists(link);
  const int forests = use == TreesFor::both ? 2 : 1;
  return std::min(least, links / (forests * (members.size() - 1)));
}

}  // namespace unisono
