// How a rank waits, be it for a message or for a word in shared memory.
#pragma once

namespace unisono {

enum class WaitMode {
  spin,   ///< look again at once: every rank has a core
  yield,  ///< give the core away between looks
  sleep,  ///< yield a while, then sleep
};

/// Where the user says nothing. How many threads of a rank will call MPI is not known beforehand,
/// but two that spin in one core, or beside the program's other threads, keep each other waiting.
constexpr WaitMode automatic_wait(bool oversubscribed, bool several_threads) {
  if (oversubscribed) return WaitMode::sleep;
  return several_threads ? WaitMode::yield : WaitMode::spin;
}

}  // namespace unisono
