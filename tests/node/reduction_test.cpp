// Every built-in operation on every type it is defined for, against the definition.
#include "node/reduction.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "tests/node/calls.h"

namespace unisono::node {
namespace {

constexpr int kElements = 21;
constexpr int kOps = 12;
constexpr std::size_t kCounts[] = {0, 1, 2, 7, 8, 31, 64, 100};

template <class T>
std::vector<T> values(std::uint64_t seed, std::size_t count) {
  std::vector<T> made(count);
  // Few values, so that some are zero and some are equal; small, so that products are exact.
  const int lowest = std::is_unsigned_v<T> ? 0 : -2;
  for (std::size_t i = 0; i < count; ++i)
    made[i] = static_cast<T>(static_cast<int>(random_word(seed, i) % 7) + lowest);
  return made;
}

template <class T>
void run_loop(Op op, Element element, const T* left, const T* right, T* out, std::size_t count) {
  const auto reduction = built_in(op, element);
  ASSERT_TRUE(reduction);
  ASSERT_EQ(reduction->element_bytes, sizeof(T));
  reduction->combine(reduction->context, reinterpret_cast<const std::byte*>(left),
                     reinterpret_cast<const std::byte*>(right), reinterpret_cast<std::byte*>(out),
                     count);
}

template <class T, class Make, class Expected>
void check(Op op, Element element, Make make, Expected expected) {
  for (const std::size_t count : kCounts) {
    const std::vector<T> left = make(1, count), right = make(2, count);
    std::vector<T> out(count), onto = left;
    run_loop(op, element, left.data(), right.data(), out.data(), count);
    run_loop(op, element, onto.data(), right.data(), onto.data(), count);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(out[i], expected(left[i], right[i])) << static_cast<int>(op) << " at " << i;
      EXPECT_EQ(onto[i], out[i]) << static_cast<int>(op) << " onto itself at " << i;
    }
  }
}

template <class T>
void check_numbers(Element element) {
  const auto make = values<T>;
  check<T>(Op::sum, element, make, [](T a, T b) { return static_cast<T>(a + b); });
  check<T>(Op::prod, element, make, [](T a, T b) { return static_cast<T>(a * b); });
  check<T>(Op::min, element, make, [](T a, T b) { return a < b ? a : b; });
  check<T>(Op::max, element, make, [](T a, T b) { return b < a ? a : b; });
}

template <class T>
void check_truth(Element element) {
  const auto make = values<T>;
  check<T>(Op::land, element, make, [](T a, T b) { return static_cast<T>(a && b); });
  check<T>(Op::lor, element, make, [](T a, T b) { return static_cast<T>(a || b); });
  check<T>(Op::lxor, element, make, [](T a, T b) { return static_cast<T>(!a != !b); });
}

template <class T>
void check_integers(Element element) {
  const auto make = values<T>;
  check_numbers<T>(element);
  check_truth<T>(element);
  check<T>(Op::band, element, make, [](T a, T b) { return static_cast<T>(a & b); });
  check<T>(Op::bor, element, make, [](T a, T b) { return static_cast<T>(a | b); });
  check<T>(Op::bxor, element, make, [](T a, T b) { return static_cast<T>(a ^ b); });
}

template <class T>
void check_complex(Element element) {
  using C = std::complex<T>;
  const auto make = [](std::uint64_t seed, std::size_t count) {
    const auto re = values<T>(seed, count), im = values<T>(seed + 9, count);
    std::vector<C> made(count);
    for (std::size_t i = 0; i < count; ++i) made[i] = {re[i], im[i]};
    return made;
  };
  check<C>(Op::sum, element, make, [](C a, C b) { return a + b; });
  check<C>(Op::prod, element, make, [](C a, C b) { return a * b; });
}

template <class T>
struct Located {
  T value;
  int index;
  bool operator==(const Located&) const = default;
};

template <class T>
void check_pairs(Element element) {
  using P = Located<T>;
  const auto make = [](std::uint64_t seed, std::size_t count) {
    const auto value = values<T>(seed, count);
    const auto index = values<int>(seed + 9, count);
    std::vector<P> made(count);
    for (std::size_t i = 0; i < count; ++i) made[i] = {value[i], index[i]};
    return made;
  };
  const auto lower = [](P a, P b) { return a.index < b.index ? a : b; };
  check<P>(Op::minloc, element, make, [&](P a, P b) {
    return a.value == b.value ? lower(a, b) : a.value < b.value ? a : b;
  });
  check<P>(Op::maxloc, element, make, [&](P a, P b) {
    return a.value == b.value ? lower(a, b) : a.value > b.value ? a : b;
  });
}

TEST(Reductions, OfIntegers) {
  check_integers<std::int8_t>(Element::int8);
  check_integers<std::int16_t>(Element::int16);
  check_integers<std::int32_t>(Element::int32);
  check_integers<std::int64_t>(Element::int64);
  check_integers<std::uint8_t>(Element::uint8);
  check_integers<std::uint16_t>(Element::uint16);
  check_integers<std::uint32_t>(Element::uint32);
  check_integers<std::uint64_t>(Element::uint64);
}

TEST(Reductions, OfFloatingNumbersAndTruth) {
  check_numbers<float>(Element::float32);
  check_numbers<double>(Element::float64);
  check_numbers<long double>(Element::long_double);
  check_truth<unsigned char>(Element::boolean);
}

TEST(Reductions, OfComplexNumbersAndPairs) {
  check_complex<float>(Element::complex_float32);
  check_complex<double>(Element::complex_float64);
  check_pairs<std::int16_t>(Element::pair_int16);
  check_pairs<std::int32_t>(Element::pair_int32);
  check_pairs<std::int64_t>(Element::pair_int64);
  check_pairs<float>(Element::pair_float32);
  check_pairs<double>(Element::pair_float64);
  check_pairs<long double>(Element::pair_long_double);
}

TEST(Reductions, IntegersWrap) {
  const std::int32_t most = INT32_MAX, one = 1;
  std::int32_t out = 0;
  run_loop(Op::sum, Element::int32, &most, &one, &out, 1);
  EXPECT_EQ(out, INT32_MIN);
  const std::uint16_t large = 65535;
  std::uint16_t product = 0;
  run_loop(Op::prod, Element::uint16, &large, &large, &product, 1);
  EXPECT_EQ(product, 1);
}

/// As many operations for each type as MPI-4.1, 6.9.2 has.
TEST(Reductions, AreThoseThatMpiDefines) {
  constexpr std::array<int, kElements> kDefined = {10, 10, 10, 10, 10, 10, 10, 10, 4, 4, 4,
                                                   4,  3,  2,  2,  2,  2,  2,  2,  2, 2};
  for (int element = 0; element < kElements; ++element) {
    int defined = 0;
    for (int op = 0; op < kOps; ++op)
      if (built_in(static_cast<Op>(op), static_cast<Element>(element))) ++defined;
    EXPECT_EQ(defined, kDefined[static_cast<std::size_t>(element)]) << element;
  }
}

TEST(Reductions, OwnOperationLeavesItsRightOperandAlone) {
  constexpr std::size_t kCount = 3 * kLargestElement / kElementBytes + 5;
  Call call{What::reduce, kCount, 0, false, true, 3};
  const Bytes left = contribution(call, 0, kCount * 8), right = contribution(call, 1, kCount * 8);
  const Bytes expected = reduced(call, 2, kCount * 8);
  const Reduction reduction = called(kAffine);
  Bytes out(left.size()), onto = left, kept = right;
  reduction.combine(reduction.context, left.data(), kept.data(), out.data(), kCount);
  reduction.combine(reduction.context, onto.data(), kept.data(), onto.data(), kCount);
  EXPECT_EQ(out, expected);
  EXPECT_EQ(onto, expected);
  EXPECT_EQ(kept, right);
}

using Words = std::vector<std::uint64_t>;

/// Of words, and not associative: another order gives another result.
Words paired(const Words& left, const Words& right) {
  Words out(left.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = 3 * left[i] + 5 * right[i] + 1;
  return out;
}

void pair_words(const void* context, const std::byte* left, const std::byte* right, std::byte* out,
                std::size_t count) {
  const std::size_t words = count * *static_cast<const std::size_t*>(context);
  Words from(words), with(words);
  if (words == 0) return;
  std::memcpy(from.data(), left, words * sizeof(std::uint64_t));
  std::memcpy(with.data(), right, words * sizeof(std::uint64_t));
  std::memcpy(out, paired(from, with).data(), words * sizeof(std::uint64_t));
}

/// Ranks in pairs until a power of two is left, then neighbours, level by level; up to three from
/// left to right, which is the same.
Words paired_all(std::vector<Words> parts) {
  const std::size_t pairs = parts.size() - std::bit_floor(parts.size());
  for (std::size_t i = 0; i < pairs; ++i) {
    parts[i] = paired(parts[i], parts[i + 1]);
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  while (parts.size() > 1)
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i] = paired(parts[i], parts[i + 1]);
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  return parts.front();
}

TEST(Folding, HasOneOrderWhateverTheElementTakes) {
  for (const std::size_t bytes :
       {std::size_t{8}, std::size_t{24}, std::size_t{256}, std::size_t{264}, kLargestElement})
    for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 23})
      for (const std::size_t count : {0, 1, 3, 200}) {
        const std::size_t words = bytes / sizeof(std::uint64_t);
        std::vector<Words> from;
        for (int rank = 0; rank < ranks; ++rank) {
          from.emplace_back(count * words);
          for (std::size_t i = 0; i < from.back().size(); ++i)
            from.back()[i] = random_word(static_cast<std::uint64_t>(rank), i);
        }
        const Words expected = paired_all(from);
        const Reduction reduction{pair_words, &words, bytes};
        Words out(count * words);
        fold(reduction, reinterpret_cast<std::byte*>(out.data()), count, ranks, [&](int rank) {
          return reinterpret_cast<const std::byte*>(from[static_cast<std::size_t>(rank)].data());
        });
        EXPECT_EQ(out, expected) << bytes << " bytes, " << ranks << " ranks, " << count;
      }
}

}  // namespace
}  // namespace unisono::node
