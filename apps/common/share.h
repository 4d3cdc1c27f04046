// How n things are shared out among p ranks.
#pragma once
#include <algorithm>
#include <cstddef>

namespace apps {

/// The indices [first, last).
struct Range {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t count() const { return last - first; }
};

/// Part `index` of `parts`; the sizes of the parts differ by one at most, and may be 0.
inline Range share(std::size_t total, int parts, int index) {
  const auto p = static_cast<std::size_t>(parts), i = static_cast<std::size_t>(index);
  const std::size_t size = total / p, longer = total % p;
  const std::size_t first = i * size + std::min(i, longer);
  return {first, first + size + (i < longer ? 1 : 0)};
}

}  // namespace apps
