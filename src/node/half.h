// The loops for IEEE 754's floating numbers of 16 bits. They are computed as float and rounded once
// more, to the nearest, ties to even: as float has more than twice their digits, that is the
// correctly rounded sum and product (Figueroa 1995). So do the MPI libraries.
#pragma once
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace unisono::node {

/// Without float's denormal numbers on the way, which the program may have switched off (Giesen
/// 2012).
inline float widen(std::uint16_t half) {
  constexpr std::uint32_t exponent = 0x1fU << 23, bias = (127U - 15) << 23;
  constexpr auto least = std::bit_cast<float>(bias + (1U << 23));  // of the normal ones
  const std::uint32_t shifted = (half & 0x7fffU) << 13;
  const bool special = (shifted & exponent) == exponent, small = (shifted & exponent) == 0;
  const std::uint32_t bits =
      shifted + bias + (special ? (128U - 16) << 23 : 0U) + (small ? 1U << 23 : 0U);
  const float value = std::bit_cast<float>(bits) - (small ? least : 0.0F);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | (half & 0x8000U) << 16);
}

inline std::uint16_t narrow(float value) {
  constexpr std::uint32_t infinity = 0xffU << 23, too_large = (127U + 16) << 23;
  constexpr std::uint32_t least = (127U - 14) << 23, magic = (127U - 14 + 13) << 23;
  const std::uint32_t all = std::bit_cast<std::uint32_t>(value), bits = all & 0x7fffffffU;
  const std::uint32_t special = bits > infinity ? 0x7e00U | (bits >> 13 & 0x3ffU) : 0x7c00U;
  const float aligned = std::bit_cast<float>(bits) + std::bit_cast<float>(magic);
  const std::uint32_t small = std::bit_cast<std::uint32_t>(aligned) - magic;
  const std::uint32_t normal = (bits - ((127U - 15) << 23) + 0xfffU + (bits >> 13 & 1U)) >> 13;
  const std::uint32_t rounded = bits >= too_large ? special : bits < least ? small : normal;
  return static_cast<std::uint16_t>(rounded | (all >> 16 & 0x8000U));
}

/// Arrays, one number after the other.
struct PlainHalves {
  static void widen(const std::uint16_t* from, float* into, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) into[i] = node::widen(from[i]);
  }
  static void narrow(const float* from, std::uint16_t* into, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) into[i] = node::narrow(from[i]);
  }
};

#if defined(__x86_64__)
struct F16c {
  [[gnu::target("avx2,f16c")]] static void widen(const std::uint16_t* from, float* into,
                                                 std::size_t count) {
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8)
      _mm256_storeu_ps(
          into + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
    for (; i < count; ++i) into[i] = _cvtsh_ss(from[i]);
  }
  [[gnu::target("avx2,f16c")]] static void narrow(const float* from, std::uint16_t* into,
                                                  std::size_t count) {
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(into + i),
                       _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
    for (; i < count; ++i) into[i] = _cvtss_sh(from[i], _MM_FROUND_TO_NEAREST_INT);
  }
};
#endif

/// Sum and Prod of combine.h.
template <class Operation>
struct Computed {
  template <class Halves>
  [[gnu::always_inline]] static void block(float* a, const float* b, const std::uint16_t*,
                                           const std::uint16_t*, std::uint16_t* out,
                                           std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) a[i] = Operation::of(a[i], b[i]);
    Halves::narrow(a, out, count);
  }
};
/// Minimum and maximum: the very bits of one of them, the left one when neither is less.
template <bool kLess>
struct Chosen {
  template <class Halves>
  [[gnu::always_inline]] static void block(const float* a, const float* b,
                                           const std::uint16_t* left, const std::uint16_t* right,
                                           std::uint16_t* out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      out[i] = (kLess ? b[i] < a[i] : b[i] > a[i]) ? right[i] : left[i];
  }
};

template <class Halves, class Operation>
[[gnu::always_inline]] inline void combine_half_loop(const std::byte* left, const std::byte* right,
                                                     std::byte* out, std::size_t count) {
  constexpr std::size_t kBlock = 64;
  alignas(64) float a[kBlock], b[kBlock];
  const auto* from_left = reinterpret_cast<const std::uint16_t*>(left);
  const auto* from_right = reinterpret_cast<const std::uint16_t*>(right);
  auto* into = reinterpret_cast<std::uint16_t*>(out);
  for (std::size_t done = 0; done < count; done += kBlock) {
    const std::size_t now = std::min(kBlock, count - done);
    Halves::widen(from_left + done, a, now);
    Halves::widen(from_right + done, b, now);
    Operation::template block<Halves>(a, b, from_left + done, from_right + done, into + done, now);
  }
}

template <class Operation>
void combine_half(const void*, const std::byte* left, const std::byte* right, std::byte* out,
                  std::size_t count) {
  combine_half_loop<PlainHalves, Operation>(left, right, out, count);
}

#if defined(__x86_64__)
template <class Operation>
[[gnu::target("avx2,f16c")]] void combine_half_f16c(const void*, const std::byte* left,
                                                    const std::byte* right, std::byte* out,
                                                    std::size_t count) {
  combine_half_loop<F16c, Operation>(left, right, out, count);
}
#endif

}  // namespace unisono::node
