// The random numbers of the NAS Parallel Benchmarks: x' = 5^13 x mod 2^46, any place in the
// sequence in O(log n) steps. Source: Bailey et al., RNR-94-007, section 2.3.
#pragma once
#include <cstdint>

namespace apps {

class NasRandom {
 public:
  /// Before the number at `position`, counted from 0.
  explicit NasRandom(std::uint64_t position = 0, std::uint64_t seed = 314159265) : x_(seed) {
    for (std::uint64_t factor = kFactor; position != 0; position /= 2, factor *= factor)
      if (position % 2 != 0) x_ *= factor;
    x_ &= kMask;
  }
  /// In (0, 1).
  double next() {
    x_ = x_ * kFactor & kMask;
    return static_cast<double>(x_) * 0x1p-46;
  }

 private:
  // Products overflow modulo 2^64, a multiple of 2^46.
  static constexpr std::uint64_t kFactor = 1220703125, kMask = (std::uint64_t{1} << 46) - 1;
  std::uint64_t x_;
};

}  // namespace apps
