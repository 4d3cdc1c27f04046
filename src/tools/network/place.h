// Reads where the ranks are.
#pragma once
#include <memory>
#include <vector>

#include "network/torus_network.h"
#include "tools/network/commands.h"

namespace unisono {

struct Placed {
  std::unique_ptr<Network> network;
  Routing routing = Routing::minimal;
  std::vector<int> host_of_rank;
  int root = 0;

  /// Null: the network is none.
  TorusNetwork* torus() const { return dynamic_cast<TorusNetwork*>(network.get()); }
  int ranks() const { return static_cast<int>(host_of_rank.size()); }
};

Placed placed(const Place& place);

}  // namespace unisono
