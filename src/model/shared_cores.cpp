#include "model/shared_cores.h"

#include <algorithm>
#include <limits>

namespace unisono {

double SharedCores::free_from(double now) const {
  for (;;) {
    int busy = 0;
    double next = std::numeric_limits<double>::infinity();
    for (const auto& [begin, end] : taken_) {
      if (begin > now || end <= now) continue;
      ++busy;
      next = std::min(next, end);
    }
    if (busy < cores_) return now;
    now = next;
  }
}

void SharedCores::forget_before(double now) {
  std::erase_if(taken_, [now](const Interval& each) { return each.end <= now; });
}

}  // namespace unisono
