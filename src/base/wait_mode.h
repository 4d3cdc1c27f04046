// How a rank waits, be it for a message or for a word in shared memory.
#pragma once

namespace unisono {

enum class WaitMode {
  spin,   ///< look again at once: every rank has a core
  yield,  ///< give the core away between looks
  sleep,  ///< yield a while, then sleep
};

}  // namespace unisono
