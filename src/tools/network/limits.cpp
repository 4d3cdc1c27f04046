#include "network/limits.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "tools/network/place.h"

namespace unisono {

namespace {

using Json = nlohmann::ordered_json;

// A max-flow for each takes 4 s then.
constexpr std::size_t kMostInFlow = 4096;
// The standard, then all others that a sender can ask for (patterns/torus.h).
constexpr std::array<std::uint8_t, 6> kWays = {Way{}.number(),        Way{1}.number(),
                                               Way{-1}.number(),      Way{0, true}.number(),
                                               Way{1, true}.number(), Way{-1, true}.number()};

}  // namespace

std::string limits_line(const Place& place) {
  const Placed where = placed(place);
  std::vector<int> members = where.host_of_rank;
  const int root = members[static_cast<std::size_t>(where.root)];
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  Json line{{"hosts", members.size()}, {"flow", nullptr}, {"routes", nullptr}};
  if (members.size() >= 2 && members.size() <= kMostInFlow) {
    const FlowLimit flow = flow_limit(*where.network, members, root);
    line["flow"] = {{"from_root", flow.from_root}, {"to_root", flow.to_root}};
    if (where.routing != Routing::source) {
      const auto ways = std::span(kWays).first(where.routing == Routing::directed ? 6 : 1);
      const RouteLimit routes = route_limit(*where.network, members, root, ways);
      line["routes"] = {{"root_sends", routes.root_sends},
                        {"root_receives", routes.root_receives},
                        {"least_sent", routes.least_sent},
                        {"least_received", routes.least_received},
                        {"all_receive", routes.all_receive}};
    }
  }
  return line.dump();
}

}  // namespace unisono
