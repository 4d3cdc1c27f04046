#include "model/stream_rate.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace unisono {

namespace {

// The share of the time that does not count: connections are still quick or slow to begin, and a
// port that has rested lets through at once what its bucket holds.
constexpr double kBegin = 0.25;
constexpr std::size_t kFewest = 4;
// The median of the slopes, beside the lower quartile: what holds messages up makes slopes greater.
constexpr double kUneven = 1.25;

/// Those that count, where something had come: ports pass on several frames at once.
std::vector<Arrived> steps(std::span<const Arrived> arrived) {
  const double whole = arrived.back().seconds - arrived.front().seconds,
               begin = arrived.front().seconds + kBegin * whole;
  std::vector<Arrived> found;
  double bytes = arrived.front().bytes;
  for (const Arrived& one : arrived) {
    const bool is_more = one.bytes > std::exchange(bytes, one.bytes);
    if (is_more && one.seconds >= begin) found.push_back(one);
  }
  return found;
}

/// Between every point and the one that is a quarter of all further; the lowest first.
std::vector<double> slopes(const std::vector<Arrived>& points) {
  const std::size_t quarter = std::max<std::size_t>(1, points.size() / 4);
  std::vector<double> all;
  for (std::size_t i = 0; i + quarter < points.size(); ++i) {
    const Arrived &one = points[i], &other = points[i + quarter];
    all.push_back((other.seconds - one.seconds) / (other.bytes - one.bytes));
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

// The median of slopes (as H. Theil's estimator, 1950). Over a quarter, so that a pause of the
// sender, which had no core, is in a third of them at most; the median does not see it then.
std::optional<double> seconds_per_byte(std::span<const Arrived> arrived) {
  if (arrived.empty()) return std::nullopt;
  const std::vector<double> all = slopes(steps(arrived));
  if (all.size() < kFewest) return std::nullopt;
  const double middle = all[all.size() / 2];
  return middle <= kUneven * all[all.size() / 4] ? std::optional(middle) : std::nullopt;
}

}  // namespace unisono
