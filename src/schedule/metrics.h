// What a schedule costs, counted over the schedules of all ranks.
//
// A round is one message sent and one received by every rank, at most (one-ported, full duplex).
// Messages that come next in the program of both their ranks go first, then whatever is ready and
// finds both ports free: what a schedule reaches without planning, not the best that could be.
// Local ops take no time.
#pragma once
#include <span>
#include <vector>

#include "schedule/schedule.h"

namespace unisono {

struct Timeline {
  /// round[rank][op]: the round, from 1 on, in which a message moves; for a local op that of the
  /// last message it waited for (0: none).
  std::vector<std::vector<Count>> round;
  Count rounds = 0;
  bool complete = false;  ///< false: some ops never start (the schedules do not match)
};

Timeline one_ported(std::span<const Schedule> schedules);

/// What is left to do when the last ranks arrive, all others having got as far as they can.
struct Remainder {
  Count rounds = 0;                   ///< one-ported
  Count units = 0;                    ///< one way through the busiest port
  double mean_received = 0;           ///< units that a rank receives
  std::vector<Count> rounds_of_rank;  ///< until each rank is done
};

/// `late` ranks arrive together, long after everybody else. Precondition: the schedules have passed
/// the checker.
Remainder after_arrival(std::span<const Schedule> schedules, std::span<const int> late);

struct Metrics {
  Count rounds = 0;    ///< one-ported
  Count depth = 0;     ///< the longest chain of messages that wait for each other
  Count messages = 0;  ///< sent by the rank that sends most of them
  Count sent = 0;      ///< units sent by the rank that sends most
  Count received = 0;  ///< units received by the rank that receives most
  Count reduced = 0;   ///< units combined by the rank that combines most
  Count copied = 0;    ///< units copied within the rank that copies most
  Count scratch = 0;   ///< units of scratch on the rank that needs most
};

/// Precondition: the schedules have passed the checker.
Metrics measure(std::span<const Schedule> schedules);

}  // namespace unisono
