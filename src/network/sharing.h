// How flows share links: max-min fair, as SimGrid's models do it.
//
// Each flow gets as much as the narrowest of its links leaves it; where several meet, each gets a
// share by its weight. SimGrid's weight is 1 / the sum over the route of (latency + 8775 B /
// bandwidth), after TCP, which prefers short routes (Velho, Legrand 2009).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "network/network.h"

namespace unisono {

using FlowId = std::uint32_t;

/// A change costs as much as the flows it can reach over shared links, and their links; of a flow
/// that meets no other, its own links.
class Sharing {
 public:
  explicit Sharing(std::span<const NetworkLink> links);

  /// Flows are numbered from 0; a number may be used again once its flow has ended.
  void begin(FlowId flow, std::span<const int> route);
  void end(FlowId flow);
  /// Bytes a second, as of the last settle().
  double rate(FlowId flow) const { return flows_[flow].rate; }
  /// Shares anew what begins and ends since the last call have touched: the flows whose rates may
  /// have changed.
  std::span<const FlowId> settle();

 private:
  struct Flow {
    std::vector<int> route;
    double weight = 0, rate = 0;
    std::uint32_t seen = 0;
    bool is_open = false;  // its rate is not settled yet
  };
  struct Link {
    double bandwidth = 0, penalty = 0;
    std::vector<FlowId> flows;
    std::uint32_t seen = 0;
  };

  /// All that shares links with this one, directly or by others, at the end of the lists.
  void gather(int link);
  void share(std::span<const FlowId> flows, std::span<const int> links);
  /// What each unit of weight gets of the flows that are open on it; infinity: there are none.
  double share_of(const Link& link) const;

  std::vector<Link> links_;
  std::vector<Flow> flows_;
  std::vector<int> touched_, reached_;
  std::vector<FlowId> changed_;
  std::uint32_t round_ = 0;
};

}  // namespace unisono
