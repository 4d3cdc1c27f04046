// A schedule in a file: one rank's schedule as JSON, written and read back.
//
//   {"unisono_schedule": 1, "rank": 3, "size": 8, "scratch": [4096], "ops": [
//     {"op": "recv", "peer": 2, "slice": ["scratch0", 0, 4096]},
//     {"op": "reduce", "from": ["scratch0", 0, 4096], "slice": ["output", 0, 4096], "after": [0]},
//     {"op": "send", "peer": 4, "slice": ["output", 0, 4096], "after": [1]}]}
//
// A slice is [buffer, offset, length] in units; "after" lists the ops to wait for.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "schedule/schedule.h"

namespace unisono {

struct StoredSchedule {
  int rank = 0;
  int size = 1;
  Schedule schedule;
};

/// Precondition: no collectives of the MPI library, no peers to be bound; see expand(), resolve().
std::string write_json(const StoredSchedule& stored);

/// Accepts only what an executor can run: known ops and buffers, peers within the size and not the
/// rank itself, scratch within its bounds, dependencies on earlier ops. Whether it is the right
/// schedule is for the checker, with those of the other ranks. The error names the op.
Result<StoredSchedule> read_json(std::string_view text);

}  // namespace unisono
