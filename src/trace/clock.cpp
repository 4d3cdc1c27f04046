#include "trace/clock.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>

namespace unisono::trace {

std::int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{1000000000} * t.tv_sec + t.tv_nsec;
}

ClockOffset offset_by(std::span<const RoundTrip> trips) {
  const RoundTrip& best = *std::ranges::min_element(
      trips, {}, [](const RoundTrip& t) { return t.received_ns - t.sent_ns; });
  const std::int64_t both_ways = best.received_ns - best.sent_ns;
  const std::int64_t middle = best.sent_ns + both_ways / 2;
  return {middle, best.answered_ns - middle, (both_ways + 1) / 2};
}

ClockOffset compose(const ClockOffset& to_second, const ClockOffset& to_third) {
  const std::int64_t between = std::abs(to_second.at_ns + to_second.offset_ns - to_third.at_ns);
  const auto drift = static_cast<std::int64_t>(std::ceil(kDrift * static_cast<double>(between)));
  return {to_second.at_ns, to_second.offset_ns + to_third.offset_ns,
          to_second.error_ns + to_third.error_ns + drift};
}

}  // namespace unisono::trace
