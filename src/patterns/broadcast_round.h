// What one rank does in one round of a broadcast in blocks: at most one goes out and one comes in.
#pragma once
#include "schedule/schedule.h"

namespace unisono {

struct BroadcastRound {
  int to = 0, from = 0;  ///< ranks
  Count sent = -1;       ///< block, or -1: nothing
  Count received = -1;
};

}  // namespace unisono
