// Floating numbers of 16 bits against their definition, in double, which holds sums and products of
// two of them exactly.
#include "node/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "node/combine.h"
#include "node/reduction.h"

namespace unisono::node {
namespace {

constexpr int kFractionBits = 10, kLeastExponent = -14, kLargestExponent = 15;

double value_of(std::uint16_t bits) {
  const int exponent = bits >> kFractionBits & 0x1f;
  const int fraction = bits & ((1 << kFractionBits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0x1f)
    return sign * (fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : std::numeric_limits<double>::infinity());
  const int shift = std::max(exponent, 1) - kLargestExponent - kFractionBits;
  return sign * std::ldexp(fraction + (exponent == 0 ? 0 : 1 << kFractionBits), shift);
}

/// To the nearest, ties to even.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::ldexp(1, std::max(std::ilogb(value), kLeastExponent) - kFractionBits);
  const double nearest = std::nearbyint(value / unit) * unit;
  const bool too_large = std::fabs(nearest) >= std::ldexp(1, kLargestExponent + 1);
  return too_large ? std::copysign(std::numeric_limits<double>::infinity(), value) : nearest;
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

TEST(Half, IsWidenedExactly) {
  for (unsigned bits = 0; bits < 1U << 16; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    ASSERT_TRUE(same(widen(half), value_of(half))) << bits;
  }
}

/// Every half number, the middle between it and the next one, and what is beside the middle.
TEST(Half, IsNarrowedToTheNearest) {
  for (unsigned bits = 0; bits < 1U << 16; ++bits) {
    const std::uint32_t here =
        std::bit_cast<std::uint32_t>(widen(static_cast<std::uint16_t>(bits)));
    const std::uint32_t next =
        std::bit_cast<std::uint32_t>(widen(static_cast<std::uint16_t>(bits + 1)));
    const std::uint32_t middle = here / 2 + next / 2;
    for (const std::uint32_t near : {here, middle - 1, middle, middle + 1}) {
      const auto value = std::bit_cast<float>(near);
      ASSERT_TRUE(same(value_of(narrow(value)), rounded(value))) << value;
    }
  }
}

using Numbers = std::vector<std::uint16_t>;

/// Zeros, infinities, NaN and denormal numbers among them.
std::pair<Numbers, Numbers> many_pairs() {
  std::pair<Numbers, Numbers> pairs;
  for (unsigned a = 0; a < 1U << 16; a += 64)
    for (unsigned b = 0; b < 1U << 16; b += 89) {
      pairs.first.push_back(static_cast<std::uint16_t>(a ^ (b & 1)));
      pairs.second.push_back(static_cast<std::uint16_t>(b));
    }
  return pairs;
}

std::byte* bytes_of(Numbers& numbers) { return reinterpret_cast<std::byte*>(numbers.data()); }

template <class Exact>
void expect_correct(Combine plain, Op op, Exact exact) {
  auto [left, right] = many_pairs();
  Numbers out(left.size()), quick(left.size()), onto = left;
  plain(nullptr, bytes_of(left), bytes_of(right), bytes_of(out), left.size());
  const auto reduction = built_in(op, Element::float16);
  ASSERT_TRUE(reduction);
  ASSERT_EQ(reduction->element_bytes, 2U);
  reduction->combine(nullptr, bytes_of(left), bytes_of(right), bytes_of(quick), left.size());
  reduction->combine(nullptr, bytes_of(onto), bytes_of(right), bytes_of(onto), left.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double result = rounded(exact(value_of(left[i]), value_of(right[i])));
    for (const std::uint16_t bits : {out[i], quick[i], onto[i]})
      ASSERT_TRUE(same(value_of(bits), result)) << left[i] << ' ' << right[i];
  }
}

TEST(Half, IsReducedCorrectly) {
  expect_correct(combine_half<Computed<Sum>>, Op::sum, [](double a, double b) { return a + b; });
  expect_correct(combine_half<Computed<Prod>>, Op::prod, [](double a, double b) { return a * b; });
  expect_correct(combine_half<Chosen<true>>, Op::min,
                 [](double a, double b) { return b < a ? b : a; });
  expect_correct(combine_half<Chosen<false>>, Op::max,
                 [](double a, double b) { return b > a ? b : a; });
}

TEST(Half, HasNoOtherOperations) {
  for (const Op op : {Op::land, Op::band, Op::minloc}) EXPECT_FALSE(built_in(op, Element::float16));
}

}  // namespace
}  // namespace unisono::node
