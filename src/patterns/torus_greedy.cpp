// Greedy packing: trees that share no link over any members, all grown at once.
//
// Always the smallest tree takes the shortest free message from one of its members to another, and
// members that it passes on the way. A link is not free either if a member needs it for a tree that
// has not come to it yet. A tree that cannot go on is given up, and the others go on over its
// links. Then, while there is work left, one tree more is tried from the start, the choice among
// equals turned, until there are as many as the ports allow.
//
// Trees: over random members of 8 x 8 x 16 two to five on shortest routes, four to five with
// directions, five to six over any links. Work is counted, in messages and links looked at, and
// limited: O(hosts k), the same on every rank.
//
// Source: our own; Edmonds 1973 says how many there can be.
#include <algorithm>

#include "patterns/torus_bound.h"
#include "patterns/torus_packing.h"
#include "patterns/torus_trees.h"

namespace unisono {

namespace {

/// Of about 10 ns: with what is beside it less than 10 ms at 4096 hosts, 60 ms at 65,536.
std::int64_t most_work(const TorusMembers& members) {
  return 300'000 + 12 * std::int64_t{members.torus().hosts()};
}
/// With more, to list the messages, or the links, would alone take longer.
constexpr int kMostMembers = Hop::kMostMembers, kMostHosts = 1 << 17;
constexpr std::uint32_t kTurns = 16;

}  // namespace

std::optional<TorusTrees> greedy_trees(const TorusMembers& members, int root, TreesFor use,
                                       Routing routing) {
  if (members.size() > kMostMembers || members.torus().hosts() > kMostHosts ||
      members.torus().dimensions() > Hop::kMostDimensions)
    return std::nullopt;
  const int limit = std::min(port_bound(members, root, use, routing), Packing::kMostTrees / 2);
  if (limit == 0) return std::nullopt;
  Packing packing(members, root, use, routing);
  const std::int64_t most = most_work(members);
  // A tree looks at most messages; those that are given up do so in vain.
  const auto affordable = most * 2 / 3 / static_cast<std::int64_t>(packing.hops() + 1);
  // What the ports allow is more than there is, unless routes have no choice or members are few.
  const bool loose =
      routing != Routing::minimal && members.size() > HopTable::kFewMembers && limit > 1;
  const int possible =
      use == TreesFor::both ? std::min(limit, members.torus().dimensions()) : limit - loose;
  const int first = std::clamp(static_cast<int>(affordable), 1, possible);
  std::optional<TorusTrees> best = packing.grow(first, 0, true, most);
  for (std::uint32_t turn = 1; turn <= kTurns && packing.work() < most; ++turn) {
    const int found = best ? static_cast<int>(std::max(best->out.size(), best->in.size())) : 0;
    if (found == limit) break;
    if (auto more = packing.grow(found + 1, turn, false, most)) best = std::move(more);
  }
  return best;
}

}  // namespace unisono
