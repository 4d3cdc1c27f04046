// Whether the process has to look after something while it waits, so that none of its waits for a
// word may sleep.
#pragma once
#include <atomic>

namespace unisono::wait {

extern constinit std::atomic<int> g_reasons_to_stay_awake;

/// By so many reasons more. One that has passed is taken back.
inline void stay_awake(int reasons) {
  g_reasons_to_stay_awake.fetch_add(reasons, std::memory_order_relaxed);
}
inline bool stays_awake() { return g_reasons_to_stay_awake.load(std::memory_order_relaxed) > 0; }

}  // namespace unisono::wait
