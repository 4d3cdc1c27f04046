#include "node/reduction.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "node/combine.h"
#include "node/half.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace unisono::node {

namespace {

template <class T, class Operation>
std::optional<Reduction> loop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2"))
    return Reduction{combine_avx2<T, Operation>, nullptr, sizeof(T)};
#endif
  return Reduction{combine<T, Operation>, nullptr, sizeof(T)};
}

template <class T>
std::optional<Reduction> of_numbers(Op op) {
  switch (op) {
    case Op::sum: return loop<T, Sum>();
    case Op::prod: return loop<T, Prod>();
    case Op::min: return loop<T, Min>();
    case Op::max: return loop<T, Max>();
    default: return std::nullopt;
  }
}

#if defined(__x86_64__)
/// Not by __builtin_cpu_supports: clang up to 16 does not know the name.
bool converts_halves() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C);
}
#endif

template <class Operation>
std::optional<Reduction> half_loop() {
#if defined(__x86_64__)
  if (converts_halves())
    return Reduction{combine_half_f16c<Operation>, nullptr, sizeof(std::uint16_t)};
#endif
  return Reduction{combine_half<Operation>, nullptr, sizeof(std::uint16_t)};
}

std::optional<Reduction> of_halves(Op op) {
  switch (op) {
    case Op::sum: return half_loop<Computed<Sum>>();
    case Op::prod: return half_loop<Computed<Prod>>();
    case Op::min: return half_loop<Chosen<true>>();
    case Op::max: return half_loop<Chosen<false>>();
    default: return std::nullopt;
  }
}

template <class T>
std::optional<Reduction> of_truth(Op op) {
  switch (op) {
    case Op::land: return loop<T, LogicalAnd>();
    case Op::lor: return loop<T, LogicalOr>();
    case Op::lxor: return loop<T, LogicalXor>();
    default: return std::nullopt;
  }
}

template <class T>
std::optional<Reduction> of_integers(Op op) {
  switch (op) {
    case Op::band: return loop<T, BitAnd>();
    case Op::bor: return loop<T, BitOr>();
    case Op::bxor: return loop<T, BitXor>();
    default: break;
  }
  const auto truth = of_truth<T>(op);
  return truth ? truth : of_numbers<T>(op);
}

template <class T>
std::optional<Reduction> of_complex(Op op) {
  switch (op) {
    case Op::sum: return loop<Complex<T>, ComplexSum>();
    case Op::prod: return loop<Complex<T>, ComplexProd>();
    default: return std::nullopt;
  }
}

template <class T>
std::optional<Reduction> of_pairs(Op op) {
  switch (op) {
    case Op::minloc: return loop<Pair<T>, MinLocation>();
    case Op::maxloc: return loop<Pair<T>, MaxLocation>();
    default: return std::nullopt;
  }
}

void call(const void* context, const std::byte* left, const std::byte* right, std::byte* out,
          std::size_t count) {
  const auto& operation = *static_cast<const UserOperation*>(context);
  const std::size_t element_bytes = operation.element_bytes;
  if (left != out) {
    std::memcpy(out, right, count * element_bytes);
    operation.reduce_local(operation.context, left, out, count);
    return;
  }
  // The operation overwrites its right operand, which is not ours.
  alignas(64) std::byte block[kLargestElement];
  const std::size_t fits = kLargestElement / element_bytes;
  for (std::size_t done = 0; done < count; done += fits) {
    const std::size_t begin = done * element_bytes, now = std::min(fits, count - done);
    std::memcpy(block, right + begin, now * element_bytes);
    operation.reduce_local(operation.context, left + begin, block, now);
    std::memcpy(out + begin, block, now * element_bytes);
  }
}

}  // namespace

std::optional<Reduction> built_in(Op op, Element element) {
  switch (element) {
    case Element::int8: return of_integers<std::int8_t>(op);
    case Element::int16: return of_integers<std::int16_t>(op);
    case Element::int32: return of_integers<std::int32_t>(op);
    case Element::int64: return of_integers<std::int64_t>(op);
    case Element::uint8: return of_integers<std::uint8_t>(op);
    case Element::uint16: return of_integers<std::uint16_t>(op);
    case Element::uint32: return of_integers<std::uint32_t>(op);
    case Element::uint64: return of_integers<std::uint64_t>(op);
    case Element::float16: return of_halves(op);
    case Element::float32: return of_numbers<float>(op);
    case Element::float64: return of_numbers<double>(op);
    case Element::long_double: return of_numbers<long double>(op);
    // Read as bytes: another compiler's bool may hold more than 0 and 1.
    case Element::boolean: return of_truth<unsigned char>(op);
    case Element::complex_float32: return of_complex<float>(op);
    case Element::complex_float64: return of_complex<double>(op);
    case Element::pair_int16: return of_pairs<std::int16_t>(op);
    case Element::pair_int32: return of_pairs<std::int32_t>(op);
    case Element::pair_int64: return of_pairs<std::int64_t>(op);
    case Element::pair_float32: return of_pairs<float>(op);
    case Element::pair_float64: return of_pairs<double>(op);
    case Element::pair_long_double: return of_pairs<long double>(op);
  }
  return std::nullopt;
}

Reduction called(const UserOperation& operation) {
  assert(operation.element_bytes <= kLargestElement);
  return {call, &operation, operation.element_bytes};
}

}  // namespace unisono::node
