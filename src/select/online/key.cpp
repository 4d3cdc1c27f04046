#include "select/online/key.h"

#include <bit>
#include <limits>

namespace unisono {

int size_class(Count bytes) {
  if (bytes <= 0) return 0;
  const auto size = static_cast<std::uint64_t>(bytes);
  const int power = std::bit_width(size) - 1;
  const bool upper = power > 0 && ((size >> (power - 1)) & 1) != 0;
  return 1 + 2 * power + (upper ? 1 : 0);
}

std::pair<Count, Count> bytes_of_class(int size_class) {
  const auto begin = [](int c) -> Count {
    if (c <= 0) return 0;
    const int power = (c - 1) / 2;
    if (power > 62) return std::numeric_limits<Count>::max();
    const Count least = Count{1} << power;
    return (c - 1) % 2 == 0 ? least : least + least / 2;
  };
  if (size_class == 1 || size_class == 0) return {size_class, size_class};  // 1.5 is not met
  return {begin(size_class), begin(size_class + 1) - 1};
}

OnlineKey online_key(const Facts& facts, int root) {
  return {facts.collective,
          size_class(facts.bytes),
          !is_rooted(facts.collective) || root == 0,
          facts.commutative,
          facts.shared,
          facts.kernels_in_nodes};
}

}  // namespace unisono
