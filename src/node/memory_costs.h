// What the memory of a node does: what a team measures (probe.h), and prices are made of (costs.h).
#pragma once

namespace unisono::node {

/// Nanoseconds of a byte in a slot.
struct StoreCosts {
  double write = 0, fetch = 0;
};
/// By how it is written.
struct SlotCosts {
  StoreCosts plain, nontemporal;
};

/// Nanoseconds; of a byte where nothing else is said.
struct MemoryCosts {
  double step = 100;     ///< until all have seen what all have just published, be it in their sleep
  double write = 0.06;   ///< into a slot
  double fetch = 0.085;  ///< out of a slot that another rank has just written
  double combine = 0.03;
  double call = 700;  ///< a single copy, however short
  /// Between what its owner has just written, as in programs, and what nobody has written since the
  /// last call, as in benchmarks, which differ by factors: the geometric mean, so that a choice
  /// loses in one by no larger a factor than it gains in the other.
  double pull = 0.075;  ///< where ranks sleep the former alone
};

}  // namespace unisono::node
