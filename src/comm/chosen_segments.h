// What open segments (segment=auto) have become on a communicator.
#pragma once
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "model/price.h"

namespace unisono {

/// The same on all ranks: it changes in calls that all of them make in one order.
struct ChosenSegments {
  /// A kind of call, by its size class, the row, and what else the price depends on.
  using Kind = std::tuple<Collective, int, const Algorithm*, Count, TransportKind>;
  struct Wanted {
    Kind kind;
    const Algorithm* algorithm;
    Params params;
    PricedCall call;
  };

  std::map<Kind, Count> known;  ///< bytes; 0: the row's standard ones
  /// By calls that waited for nobody; the next one that may wait finds them.
  std::vector<Wanted> wanted;

  /// Whether it was not wanted before.
  bool want(const Wanted& one) {
    const bool is_known = std::any_of(wanted.begin(), wanted.end(),
                                      [&](const Wanted& other) { return other.kind == one.kind; });
    if (!is_known) wanted.push_back(one);
    return !is_known;
  }
};

}  // namespace unisono
