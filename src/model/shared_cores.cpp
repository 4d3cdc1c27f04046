#include "model/shared_cores.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace unisono {

double SharedCores::free_from(double now) {
  set_aside_until(now);
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
  const auto is_over = [now](const Interval& each) { return each.end <= now; };
  std::erase_if(taken_, is_over);
  std::erase_if(over_, is_over);
}

void SharedCores::set_aside_until(double now) {
  if (now < asked_) {
    taken_.insert(taken_.end(), over_.begin(), over_.end());
    over_.clear();
  }
  asked_ = now;
  const auto over = std::partition(taken_.begin(), taken_.end(),
                                   [now](const Interval& each) { return each.end > now; });
  over_.insert(over_.end(), over, taken_.end());
  taken_.erase(over, taken_.end());
}

}  // namespace unisono
