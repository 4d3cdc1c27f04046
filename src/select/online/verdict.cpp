#include "select/online/verdict.h"

#include <algorithm>

namespace unisono {

namespace {

// The same call in another job, on a machine that has modes.
constexpr double kUsual = 2;
// A margin by which somebody won once is no licence for everything.
constexpr double kMostMargin = 8;

}  // namespace

// Being fast is as wrong as being slow: then the loser may be fast as well.
bool Verdict::holds(int way, const WayTimes& now) const {
  const WayTimes& then = times[static_cast<std::size_t>(way)];
  if (!(now.in_calls > 0) || !(then.in_calls > 0)) return false;
  const auto& won = times[static_cast<std::size_t>(winner)];
  const auto& lost = times[static_cast<std::size_t>(1 - winner)];
  const double margin = std::max(lost.in_calls / won.in_calls, lost.all / won.all);
  const double most = std::clamp(margin, kUsual, kMostMargin);
  const double change = std::max(now.in_calls / then.in_calls, then.in_calls / now.in_calls);
  const double all_change = std::max(now.all / then.all, then.all / now.all);
  return change <= most && (now.is_spread() == then.is_spread() || all_change <= kUsual);
}

}  // namespace unisono
