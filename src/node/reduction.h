// out = left (+) right over arrays: MPI's own operations, vectorised, and the program's through a
// call.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <limits>
#include <optional>

#include "node/copy.h"

namespace unisono::node {

/// `out` is memory of its own, or `left`.
using Combine = void (*)(const void* context, const std::byte* left, const std::byte* right,
                         std::byte* out, std::size_t count);

struct Reduction {
  Combine combine = nullptr;
  const void* context = nullptr;  ///< of combine
  std::size_t element_bytes = 0;

  /// That fit into so many bytes. MPI's own elements are a power of two long, and to divide takes
  /// as long as the rest of a short call's bookkeeping.
  std::size_t elements(std::size_t bytes) const {
    return is_power() ? bytes >> std::countr_zero(element_bytes) : bytes / element_bytes;
  }
  /// So much of `bytes` as whole elements fill.
  std::size_t whole(std::size_t bytes) const {
    return is_power() ? bytes & ~(element_bytes - 1) : bytes / element_bytes * element_bytes;
  }
  bool is_power() const { return (element_bytes & (element_bytes - 1)) == 0; }
};

enum class Op : unsigned char {
  sum,
  prod,
  min,
  max,
  land,
  lor,
  lxor,
  band,
  bor,
  bxor,
  minloc,
  maxloc,
};

/// C's types by size. boolean is bool; a pair is struct { value; int }, as MPI_DOUBLE_INT is.
enum class Element : unsigned char {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,  ///< IEEE 754's
  float32,
  float64,
  long_double,
  boolean,
  complex_float32,
  complex_float64,
  pair_int16,
  pair_int32,
  pair_int64,
  pair_float32,
  pair_float64,
  pair_long_double,
};

/// Nothing where MPI defines none (MPI-4.1, 6.9.2).
std::optional<Reduction> built_in(Op op, Element element);

/// An operation that is called: inout = in (+) inout, as in MPI_Reduce_local.
struct UserOperation {
  void (*reduce_local)(const void* context, const std::byte* in, std::byte* inout,
                       std::size_t count);
  const void* context;
  std::size_t element_bytes;  ///< kLargestElement at most
};
inline constexpr std::size_t kLargestElement = 4096;

/// Reads `operation` whenever it is used.
Reduction called(const UserOperation& operation);

/// out = source(0) (+) ... (+) source(ranks - 1), left to right. `out` is none of them, or the
/// first.
template <class Source>
[[gnu::always_inline]] inline void fold_left(const Reduction& reduction, std::byte* out,
                                             std::size_t count, int ranks, Source source) {
  const std::byte* left = source(0);
  if (ranks == 1) copy_bytes(out, left, count * reduction.element_bytes);
  for (int rank = 1; rank < ranks; ++rank) {
    reduction.combine(reduction.context, left, source(rank), out, count);
    left = out;
  }
}

/// Results of parts that fold_in_pairs() has at a time at most, besides `out`.
constexpr int pending_parts(int ranks) {
  return std::max(0, static_cast<int>(std::bit_width(static_cast<unsigned>(ranks))) - 2);
}

/// The same as Order::folded: ranks in pairs until a power of two is left, then neighbours, level
/// by level, which is how recursive doubling combines. place(i) has room for a part; place(0) is
/// where the result is wanted. source(rank, i) may put what it finds into place(i), and is nullptr
/// where it finds nothing: false.
template <class Source, class Place>
bool fold_in_pairs(const Reduction& reduction, std::size_t count, int ranks, Source source,
                   Place place) {
  struct Part {
    const std::byte* at;
    int height;
  };
  std::array<Part, std::numeric_limits<int>::digits> parts;
  std::size_t held = 0;
  const auto combine = [&](const std::byte* left, const std::byte* right, std::size_t to) {
    reduction.combine(reduction.context, left, right, place(to), count);
    return place(to);
  };
  const int in_pairs = 2 * (ranks - static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks))));
  for (int rank = 0; rank < ranks; ++rank) {
    const std::byte* at = source(rank, held);
    if (at == nullptr) return false;
    if (rank < in_pairs) {
      const std::byte* right = source(++rank, held + 1);
      if (right == nullptr) return false;
      at = combine(at, right, held);
    }
    parts[held++] = {at, 0};
    for (; held > 1 && parts[held - 2].height == parts[held - 1].height; --held) {
      Part& left = parts[held - 2];
      left = {combine(left.at, parts[held - 1].at, held - 2), left.height + 1};
    }
  }
  return true;
}

/// The same of more than three ranks, whose sources lie in memory. Parts are short enough for the
/// stack, of which a thread may have little: each source is asked for once more for each of them,
/// and once where there is nothing, since who asks also waits for that rank.
template <std::size_t kRoom, class Source>
[[gnu::noinline]] void fold_many(const Reduction& reduction, std::byte* out, std::size_t count,
                                 int ranks, Source source) {
  alignas(64) std::byte room[kRoom];
  const auto parts = static_cast<std::size_t>(pending_parts(ranks));
  const std::size_t each = kRoom / parts / 64 * 64;
  const std::size_t most = reduction.elements(each);
  assert(most > 0);
  std::size_t done = 0;
  do {
    const std::size_t begin = done * reduction.element_bytes;
    fold_in_pairs(
        reduction, std::min(most, count - done), ranks,
        [&](int rank, std::size_t) { return source(rank) + begin; },
        [&](std::size_t i) { return i == 0 ? out + begin : room + (i - 1) * each; });
    done += most;
  } while (done < count);
}

/// out = source(0) (+) ... (+) source(ranks - 1) in the order of fold_in_pairs(). `out` is none of
/// them, or the first.
template <class Source>
[[gnu::always_inline]] inline void fold(const Reduction& reduction, std::byte* out,
                                        std::size_t count, int ranks, Source source) {
  constexpr std::size_t kMostParts = 12, kUsual = 4 << 10, kUsualElement = 256;
  static_assert(kUsual / kMostParts / 64 * 64 >= kUsualElement);
  if (ranks <= 3) return fold_left(reduction, out, count, ranks, source);
  if (reduction.element_bytes <= kUsualElement)
    return fold_many<kUsual>(reduction, out, count, ranks, source);
  fold_many<kMostParts * kLargestElement>(reduction, out, count, ranks, source);
}

}  // namespace unisono::node
