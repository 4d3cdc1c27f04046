#include "select/online/lateness.h"

#include <algorithm>

#include "patterns/arrival.h"

namespace unisono {

std::vector<int> late_ranks(std::span<const Nanoseconds> in_calls) {
  if (in_calls.empty()) return {};
  const auto [least, most] = std::minmax_element(in_calls.begin(), in_calls.end());
  const Nanoseconds imbalance = *most - *least;
  if (imbalance <= *least) return {};
  std::vector<int> late;
  for (std::size_t rank = 0; rank < in_calls.size(); ++rank)
    if ((*most - in_calls[rank]) * 3 >= imbalance * 2) late.push_back(static_cast<int>(rank));
  if (2 * late.size() > in_calls.size()) return {};
  std::stable_sort(late.begin(), late.end(), [&](int a, int b) {
    return in_calls[static_cast<std::size_t>(a)] > in_calls[static_cast<std::size_t>(b)];
  });
  return late;
}

void Lateness::learn(std::span<const Nanoseconds> in_calls) {
  const std::vector<int> late = late_ranks(in_calls);
  const std::vector<int>* now = late.empty() ? nullptr : intern(late);
  if (now == seen_) predicted_ = now;
  seen_ = now;
}

}  // namespace unisono
