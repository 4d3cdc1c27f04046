// The loops of the built-in reductions: one for each type and operation, compiled twice.
#pragma once
#include <cstddef>
#include <type_traits>

namespace unisono::node {

/// Integers wrap, without undefined behaviour. MPI does not say what becomes of them; Open MPI's
/// sums of 8 and 16 bits stay at the largest.
template <class T, bool = std::is_integral_v<T>>
struct Wrapping {
  using type = T;
};
template <class T>
struct Wrapping<T, true> {
  using type = std::common_type_t<unsigned, std::make_unsigned_t<T>>;
};
template <class T>
using WrappingOf = typename Wrapping<T>::type;

struct Sum {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<WrappingOf<T>>(a) + static_cast<WrappingOf<T>>(b));
  }
};
struct Prod {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<WrappingOf<T>>(a) * static_cast<WrappingOf<T>>(b));
  }
};
// The form of the processor's instructions, also for what is no number.
struct Min {
  template <class T>
  static T of(T a, T b) {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    return a > b ? a : b;
  }
};
struct LogicalAnd {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>((a != 0) & (b != 0));
  }
};
struct LogicalOr {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>((a != 0) | (b != 0));
  }
};
struct LogicalXor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>((a != 0) ^ (b != 0));
  }
};
struct BitAnd {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitOr {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitXor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

template <class T>
struct Complex {
  T re, im;
};
struct ComplexSum {
  template <class T>
  static Complex<T> of(Complex<T> a, Complex<T> b) {
    return {a.re + b.re, a.im + b.im};
  }
};
// The school's formula, which vectorises. C's own product (Annex G) differs in infinities only.
struct ComplexProd {
  template <class T>
  static Complex<T> of(Complex<T> a, Complex<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

template <class T>
struct Pair {
  T value;
  int index;
};
/// Of equal values the lower index.
struct MinLocation {
  template <class T>
  static Pair<T> of(Pair<T> a, Pair<T> b) {
    if (a.value == b.value) return {a.value, a.index < b.index ? a.index : b.index};
    return a.value < b.value ? a : b;
  }
};
struct MaxLocation {
  template <class T>
  static Pair<T> of(Pair<T> a, Pair<T> b) {
    if (a.value == b.value) return {a.value, a.index < b.index ? a.index : b.index};
    return a.value > b.value ? a : b;
  }
};

/// Two loops, because the compiler must know for each what overlaps.
template <class T, class Operation>
[[gnu::always_inline]] inline void combine_loops(const std::byte* left, const std::byte* right,
                                                 std::byte* out, std::size_t count) {
  const T* __restrict b = reinterpret_cast<const T*>(right);
  T* __restrict o = reinterpret_cast<T*>(out);
  if (left == out) {
    for (std::size_t i = 0; i < count; ++i) o[i] = Operation::of(o[i], b[i]);
  } else {
    const T* __restrict a = reinterpret_cast<const T*>(left);
    for (std::size_t i = 0; i < count; ++i) o[i] = Operation::of(a[i], b[i]);
  }
}

template <class T, class Operation>
void combine(const void*, const std::byte* left, const std::byte* right, std::byte* out,
             std::size_t count) {
  combine_loops<T, Operation>(left, right, out, count);
}

#if defined(__x86_64__)
// Not with FMA: a product and a sum in one would round differently from machine to machine.
template <class T, class Operation>
[[gnu::target("avx2")]] void combine_avx2(const void*, const std::byte* left,
                                          const std::byte* right, std::byte* out,
                                          std::size_t count) {
  combine_loops<T, Operation>(left, right, out, count);
}
#endif

}  // namespace unisono::node
