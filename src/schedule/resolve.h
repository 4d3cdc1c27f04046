// Schedules whose peers are bound while they run, made static for one course of arrivals: for the
// checker, the metrics, the model and whoever else runs nothing.
#pragma once
#include <vector>

#include "schedule/schedule.h"

namespace unisono {

/// Whom each serve takes, in order of arrival; serves beyond these take nobody.
using Arrivals = std::vector<std::vector<int>>;

/// Everybody waits when the server looks first, in rank order from it on; but `late`, if there is
/// such a rank and it is not the server, comes when all others have been served.
Arrivals all_waiting(int size, int server, int late = -1);

/// Binds as the server would: a serve becomes a join that waits for what its enqueues wait for, and
/// stands in for them; what the server writes to the others becomes a token, and messages to nobody
/// vanish. Nothing else changes: positions, and by them tags, stay those that the executor uses,
/// with 0 for the first where the server has written nothing. Schedules that bind no peers come
/// back as they are. An enqueued rank in no set stays enqueued, which the checker rejects.
std::vector<Schedule> resolve(std::vector<Schedule> schedules, const Arrivals& sets);

}  // namespace unisono
