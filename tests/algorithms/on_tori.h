// Where ranks may be on tori.
#pragma once
#include <memory>
#include <vector>

#include "topology/topology.h"

namespace unisono {

/// Nothing, or where the ranks are on a torus.
inline std::vector<std::unique_ptr<const Topology>> on_tori(int p) {
  std::vector<std::unique_ptr<const Topology>> result(1);
  for (const int width : {2, 3, 4, 8}) {
    if (p % width != 0 || p == width) continue;
    TopologyLabels labels;
    labels.torus = {
        std::make_shared<const Torus>(std::vector{width, p / width}), Routing::minimal, {}};
    for (int rank = 0; rank < p; ++rank) labels.torus.of_rank.push_back(p - 1 - rank);
    result.push_back(std::make_unique<const Topology>(p, labels));
  }
  return result;
}

}  // namespace unisono
