// What one rank does, as small as a walk through millions of messages wants it.
#pragma once
#include <span>
#include <vector>

#include "algorithms/catalogue.h"
#include "base/result.h"
#include "schedule/problem.h"

namespace unisono {

/// 24 bytes.
struct Step {
  Count bytes = 0;
  std::int32_t peer = kNobody;
  std::uint32_t waits_for = 0;  ///< how many steps
  std::uint32_t position = 0;   ///< of a message on its channel
  OpKind kind = OpKind::join;
  std::uint8_t way = 0;
};

struct Program {
  std::vector<Step> steps;
  std::vector<std::uint32_t> first_follower, followers;

  std::span<const std::uint32_t> followers_of(std::uint32_t step) const {
    return {followers.data() + first_follower[step],
            first_follower[step + 1] - first_follower[step]};
  }
  std::size_t bytes() const;
};

/// At most `sends_under_way` messages on a channel, as in SMPI (schedule/flow_control.h). The error
/// is one line: what depends on who arrives, or on others than ranks, has no time.
Result<Program> program_of(Schedule schedule, Count unit_bytes, Count sends_under_way);

/// Of all ranks, one after the other where the algorithm permits it, so that no more than one
/// schedule is in memory. Precondition: no unmet restriction.
Result<std::vector<Program>> programs_of(const Algorithm& algorithm, const Problem& problem,
                                         Count sends_under_way);

}  // namespace unisono
