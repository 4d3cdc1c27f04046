// Which numbers of one sender have been seen: the last 64 (as in RFC 4303, 3.4.3).
#pragma once
#include <cstdint>

namespace unisono::multicast {

class ReplayWindow {
 public:
  /// Numbers begin at 1. False: seen before, or too old to tell.
  bool accept(std::uint32_t number) {
    if (number > newest_) {
      const std::uint32_t further = number - newest_;
      seen_ = further < 64 ? seen_ << further | 1U : 1U;
      newest_ = number;
      return true;
    }
    const std::uint32_t age = newest_ - number;
    if (number == 0 || age >= 64 || (seen_ >> age & 1U) != 0) return false;
    seen_ |= std::uint64_t{1} << age;
    return true;
  }

 private:
  std::uint32_t newest_ = 0;
  std::uint64_t seen_ = 0;  // bit i: newest_ - i
};

}  // namespace unisono::multicast
