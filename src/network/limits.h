// What no implementation can beat on a network: bytes a second that members can exchange at most.
#pragma once
#include <optional>
#include <span>

#include "network/network.h"

namespace unisono {

/// Bytes a second that can flow from the root to each other member, and from each of them to the
/// root, whatever the routes: the least max-flow, all links and hosts of the network helping. A
/// broadcast of m bytes takes at least m / from_root, because every cut between the root and a
/// member lets all m through (Edmonds 1973 shows that, with all hosts as members, trees reach it);
/// a reduction m / to_root; what does both the larger of the two.
struct FlowLimit {
  double from_root = 0, to_root = 0;
};
/// Precondition: two members at least, the root among them. A max-flow for each member and
/// direction.
FlowLimit flow_limit(const Network& network, std::span<const int> members, int root);

/// The same where messages go straight from member to member by the network's own routes: what
/// comes to a member comes over the last links of the routes to it, what leaves it over first
/// links.
struct RouteLimit {
  double root_sends = 0, root_receives = 0;
  double least_sent = 0, least_received = 0;  ///< of any other member
  double all_receive = 0;                     ///< the sum over all members
};
/// `ways`: those of Op's that a sender can choose from. O(members^2) routes.
RouteLimit route_limit(const Network& network, std::span<const int> members, int root,
                       std::span<const std::uint8_t> ways);

}  // namespace unisono
