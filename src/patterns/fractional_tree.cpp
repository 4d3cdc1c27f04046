#include "patterns/fractional_tree.h"

#include <cstdint>

namespace unisono {

// A group that has children is complete: only the last one is cut.
std::vector<int> FractionalTree::targets(int position, Count segment) const {
  const int member = position % radix;
  const std::int64_t group = position / radix;
  std::vector<int> result;
  const auto add = [&](std::int64_t to) {
    if (to < size) result.push_back(static_cast<int>(to));
  };
  if (member < radix - 1) add(std::int64_t{position} + 1);
  if (segment % radix == member) add((2 * group + 1) * radix);
  if (member == radix - 1) add((2 * group + 2) * radix);
  return result;
}

}  // namespace unisono
