// out = left (+) right over arrays: MPI's own operations, vectorised, and the program's through a
// call.
#pragma once
#include <bit>
#include <cstddef>
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
[[gnu::always_inline]] inline void fold(const Reduction& reduction, std::byte* out,
                                        std::size_t count, int ranks, Source source) {
  const std::byte* left = source(0);
  if (ranks == 1) copy_bytes(out, left, count * reduction.element_bytes);
  for (int rank = 1; rank < ranks; ++rank) {
    reduction.combine(reduction.context, left, source(rank), out, count);
    left = out;
  }
}

}  // namespace unisono::node
