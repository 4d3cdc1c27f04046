#include "node/tuning.h"

namespace unisono::node {

DirectFrom direct_from(int size, WaitMode mode) {
  if (size == 1) return {};
  if (mode == WaitMode::sleep)
    return {32768, 32768, 32768, 32768, 32768, 65536, 65536, 32768, 65536};
  return {65536, 65536, 65536, 65536, 65536, 262144, 262144, 65536, 262144};
}

std::size_t preferred_slot(int, WaitMode) { return 32 << 10; }

}  // namespace unisono::node
