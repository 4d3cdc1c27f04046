// A network as the simulator of flows sees it: links, and the route of each message.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "patterns/torus.h"

namespace unisono {

/// A directed link. The first vertices are the hosts, by their numbers; switches follow.
struct NetworkLink {
  int from = -1, to = -1;  ///< -1: there is no such link
  double bandwidth = 0;    ///< bytes a second
  double latency = 0;      ///< seconds

  bool exists() const { return from >= 0; }
};

/// What all links, and all hosts, are like.
struct NetworkSpeeds {
  double bandwidth = 0, latency = 0;
  double flops = 0;  ///< additions of two elements a second, of a host
};

/// Links are full duplex: one each way. Hosts that have no ranks pass messages on.
class Network {
 public:
  virtual ~Network() = default;

  int hosts() const { return hosts_; }
  int vertices() const { return vertices_; }
  double flops() const { return flops_; }
  std::span<const NetworkLink> links() const { return links_; }

  /// Appends the links of a message's route, in their order. `way`: as in Op. Precondition: two
  /// different hosts.
  virtual void route(int from, int to, std::uint8_t way, std::vector<int>& links) const = 0;
  /// "(3,0,7) up in dimension 0"
  virtual std::string text_of_link(int link) const = 0;

 protected:
  Network(int hosts, double flops) : hosts_(hosts), vertices_(hosts), flops_(flops) {}

  int hosts_, vertices_;
  double flops_;
  std::vector<NetworkLink> links_;
};

/// As users write it: torus:8x8x16, fattree:16x4:8 or ethernet:64, where a dimension of a torus
/// that does not wrap around has an m behind its size (torus:8x8x16m). `routing`: of a torus. The
/// error is one line: no such network, or one whose routes nobody knows beforehand.
Result<std::unique_ptr<Network>> make_network(std::string_view shape, Routing routing,
                                              const NetworkSpeeds& speeds);

}  // namespace unisono
