// When calls begin and end.
#pragma once
#include <cstdint>

#include "mpi/simulated.h"
#include "mpi/threads.h"
#include "trace/clock.h"
#include "trace/fast_clock.h"

namespace unisono {

extern constinit trace::FastClock g_call_clock;  ///< where one thread calls at a time

/// CLOCK_MONOTONIC, or the simulated time.
inline std::int64_t call_time() {
  if constexpr (kSimulated) return simulated_ns();
  return several_threads() ? trace::now_ns() : g_call_clock.now_ns();
}

}  // namespace unisono
