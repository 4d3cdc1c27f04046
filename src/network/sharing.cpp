#include "network/sharing.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

namespace unisono {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Bytes: SimGrid's network/weight-S of its model of SMPI.
constexpr double kPenaltyBytes = 8775;

}  // namespace

Sharing::Sharing(std::span<const NetworkLink> links) {
  for (const NetworkLink& link : links)
    links_.push_back({link.bandwidth, link.latency + kPenaltyBytes / link.bandwidth, {}, 0});
}

void Sharing::begin(FlowId id, std::span<const int> route) {
  if (id >= flows_.size()) flows_.resize(id + 1);
  Flow& flow = flows_[id];
  flow.route.assign(route.begin(), route.end());
  double penalty = 0;
  for (const int l : route) {
    Link& link = links_[static_cast<std::size_t>(l)];
    penalty += link.penalty;
    link.flows.push_back(id);
  }
  flow.weight = 1 / penalty;
  flow.rate = 0;
  touched_.push_back(route.front());  // the others are reached from there
}

void Sharing::end(FlowId id) {
  for (const int l : flows_[id].route) {
    auto& flows = links_[static_cast<std::size_t>(l)].flows;
    flows.erase(std::find(flows.begin(), flows.end(), id));
    if (!flows.empty()) touched_.push_back(l);
  }
  flows_[id].route.clear();
}

void Sharing::gather(int first) {
  std::size_t next = reached_.size();
  links_[static_cast<std::size_t>(first)].seen = round_;
  reached_.push_back(first);
  for (; next < reached_.size(); ++next)
    for (const FlowId id : links_[static_cast<std::size_t>(reached_[next])].flows) {
      Flow& flow = flows_[id];
      if (std::exchange(flow.seen, round_) == round_) continue;
      changed_.push_back(id);
      for (const int l : flow.route)
        if (std::exchange(links_[static_cast<std::size_t>(l)].seen, round_) != round_)
          reached_.push_back(l);
    }
}

double Sharing::share_of(const Link& link) const {
  double left = link.bandwidth, weight = 0;
  for (const FlowId id : link.flows) {
    const Flow& flow = flows_[id];
    if (flow.is_open)
      weight += flow.weight;
    else
      left -= flow.rate;
  }
  return weight > 0 ? std::max(left, link.bandwidth * 1e-12) / weight : kInfinity;
}

// The link that leaves the least to a unit of weight settles the rates of its flows; what the
// others leave only grows by that, so that an entry of the queue is never too large.
void Sharing::share(std::span<const FlowId> flows, std::span<const int> links) {
  if (flows.size() == 1) {
    double least = kInfinity;
    for (const int l : links)
      least = std::min(least, links_[static_cast<std::size_t>(l)].bandwidth);
    flows_[flows.front()].rate = least;
    return;
  }
  using Entry = std::pair<double, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> narrowest;
  for (const FlowId id : flows) flows_[id].is_open = true;
  for (const int l : links) narrowest.emplace(share_of(links_[static_cast<std::size_t>(l)]), l);
  while (!narrowest.empty()) {
    const auto [was, l] = narrowest.top();
    narrowest.pop();
    const Link& link = links_[static_cast<std::size_t>(l)];
    const double share = share_of(link);
    if (share == kInfinity) continue;
    if (share > was) {
      narrowest.emplace(share, l);
      continue;
    }
    for (const FlowId id : link.flows) {
      Flow& flow = flows_[id];
      if (std::exchange(flow.is_open, false)) flow.rate = share * flow.weight;
    }
  }
}

std::span<const FlowId> Sharing::settle() {
  ++round_;
  changed_.clear();
  reached_.clear();
  for (const int link : touched_) {
    if (links_[static_cast<std::size_t>(link)].seen == round_) continue;
    const std::size_t flows = changed_.size(), links = reached_.size();
    gather(link);
    if (changed_.size() > flows)
      share(std::span(changed_).subspan(flows), std::span(reached_).subspan(links));
  }
  touched_.clear();
  return changed_;
}

}  // namespace unisono
