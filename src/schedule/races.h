// Which ops of one rank must be complete before which, and conflicting ops that no order holds.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedule/schedule.h"

namespace unisono {

/// By the dependencies, which must point backwards.
class Order {
 public:
  explicit Order(const Schedule& schedule);
  bool is_before(OpId early, OpId late) const {
    return (before_[late * words_ + early / 64] >> (early % 64) & 1) != 0;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> before_;
};

struct Race {
  OpId late, early;
  Slice cell;  ///< what `late` has to do with
};

/// The first in the order of `late`, then of `early`. Nobody may write into the input.
std::optional<Race> first_race(std::span<const Op> ops, const Order& order);

}  // namespace unisono
