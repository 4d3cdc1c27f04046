#include "network/torus_network.h"

namespace unisono {

TorusNetwork::TorusNetwork(std::shared_ptr<const Torus> torus, Routing routing,
                           const NetworkSpeeds& speeds)
    : Network(torus->hosts(), speeds.flops), torus_(std::move(torus)), routing_(routing) {
  links_.resize(static_cast<std::size_t>(torus_->links()));
  for (LinkId link = 0; link < torus_->links(); ++link)
    if (torus_->exists(link))
      links_[static_cast<std::size_t>(link)] = {torus_->from(link), torus_->to(link),
                                                speeds.bandwidth, speeds.latency};
}

void TorusNetwork::route(int from, int to, std::uint8_t way, std::vector<int>& links) const {
  if (routing_ == Routing::source && way >= kFirstNamedRoute) {
    const auto named = named_.find({way, from, to});
    if (named != named_.end()) {
      links.insert(links.end(), named->second.begin(), named->second.end());
      return;
    }
  }
  const bool asks = routing_ != Routing::minimal && way < kFirstNamedRoute;
  torus_->route(from, to, asks ? Way::numbered(way) : Way{},
                [&links](LinkId link) { links.push_back(link); });
}

void TorusNetwork::name_routes(const TorusMembers& members, const TorusForest& forest) {
  for (std::size_t t = 0; t < forest.size(); ++t)
    for (int member = 0; member < members.size(); ++member) {
      const int parent = forest[t].parent[static_cast<std::size_t>(member)];
      if (parent < 0) continue;
      int from = members.host(parent), to = members.host(member);
      if (forest[t].flow == Flow::in) std::swap(from, to);
      auto& route = named_[{static_cast<std::uint8_t>(kFirstNamedRoute + t), from, to}];
      route.clear();
      for_links(members, forest[t], member, [&route](LinkId link) { route.push_back(link); });
    }
}

}  // namespace unisono
