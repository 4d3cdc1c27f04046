// Flow control as a change of the schedule: the network of the executor need not know of it.
#pragma once
#include "schedule/schedule.h"

namespace unisono {

/// The same schedule with at most `sends` sends under way on one channel, and one way of it: each
/// also waits for the one `sends` places before it. Linear in the ops. Precondition: sends >= 1.
Schedule limit_sends(Schedule schedule, Count sends);

}  // namespace unisono
