// What open segments (segment=auto) have become on a communicator.
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "model/price.h"

namespace unisono {

/// The same on all ranks: it changes in calls that all of them make in one order.
struct ChosenSegments {
  /// Calls for which one segment is to be good: what the price depends on, but the root.
  struct Kind {
    Collective collective;
    int size_class;
    bool commutative;
    const Algorithm* algorithm;
    Params params;  ///< without the segment
    bool operator==(const Kind&) const = default;
  };
  struct Known {
    Kind kind;
    Count bytes;  ///< 0: the row's standard one
  };
  struct Wanted {
    Kind kind;
    PricedCall call;
  };

  std::vector<Known> known;
  /// By calls that waited for nobody; the next one that may wait finds them.
  std::vector<Wanted> wanted;

  std::optional<Count> find(const Kind& kind) const {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const Known& other) { return other.kind == kind; });
    return found == known.end() ? std::nullopt : std::optional(found->bytes);
  }

  /// Whether it was not wanted before.
  bool want(const Wanted& one) {
    const bool is_known = std::any_of(wanted.begin(), wanted.end(),
                                      [&](const Wanted& other) { return other.kind == one.kind; });
    if (!is_known) wanted.push_back(one);
    return !is_known;
  }
};

}  // namespace unisono
