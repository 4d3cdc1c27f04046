// Which numbers of one sender have been seen, of the last ones: a ring of bits, of which blocks are
// cleared as it goes on (RFC 6479).
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace unisono::multicast {

class ReplayWindow {
 public:
  /// Of at least so many numbers, and no more than twice as many.
  explicit ReplayWindow(std::size_t numbers) : seen_(std::bit_ceil(numbers / 64 + 2)) {}

  /// Numbers begin at 1. False: seen before, or too old to tell.
  bool accept(std::uint64_t number) {
    const std::uint64_t block = number / 64;
    if (number == 0 || block + seen_.size() <= newest_) return false;
    for (std::uint64_t i = std::min<std::uint64_t>(block - std::min(block, newest_), seen_.size());
         i > 0; --i)
      at(block - i + 1) = 0;
    newest_ = std::max(newest_, block);
    const std::uint64_t bit = std::uint64_t{1} << (number % 64);
    const bool is_new = (at(block) & bit) == 0;
    at(block) |= bit;
    return is_new;
  }

 private:
  std::uint64_t& at(std::uint64_t block) { return seen_[block % seen_.size()]; }

  std::uint64_t newest_ = 0;         // block of 64 numbers
  std::vector<std::uint64_t> seen_;  // a power of two of them
};

}  // namespace unisono::multicast
