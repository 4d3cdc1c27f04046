#include "tools/bench/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace unisono::bench {

namespace {

constexpr std::array<std::string_view, 8> kOperationNames = {"sum",  "prod", "min",  "max",
                                                             "band", "bor",  "bxor", "left"};

// Eight well mixed bits. The constants are those of the splitmix64 finaliser.
std::uint64_t bits_of(int rank, std::uint64_t iteration, unsigned index) {
  std::uint64_t x = static_cast<std::uint64_t>(rank) * 0x9e3779b97f4a7c15U +
                    iteration * 0xd1342543de82ef95U + index + 1;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x >> 56;
}

template <class T>
T contribution(Operation operation, int rank, std::uint64_t iteration, unsigned index) {
  const std::uint64_t bits = bits_of(rank, iteration, index);
  if (operation == Operation::prod) return static_cast<T>((bits & 1) != 0 ? 1 : -1);
  return static_cast<T>(bits);
}

template <class T>
T combine_two(Operation operation, T a, T b) {
  switch (operation) {
    case Operation::min: return std::min(a, b);
    case Operation::max: return std::max(a, b);
    case Operation::left: return a;
    default: break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    return operation == Operation::prod ? a * b : a + b;
  } else {
    // Unsigned and wide, because products and int8 sums overflow.
    const auto wide = [](T x) -> std::uint64_t { return static_cast<std::make_unsigned_t<T>>(x); };
    const std::uint64_t ua = wide(a), ub = wide(b);
    switch (operation) {
      case Operation::prod: return static_cast<T>(ua * ub);
      case Operation::band: return static_cast<T>(ua & ub);
      case Operation::bor: return static_cast<T>(ua | ub);
      case Operation::bxor: return static_cast<T>(ua ^ ub);
      default: return static_cast<T>(ua + ub);
    }
  }
}

template <class T>
void combine(Operation operation, Ranks ranks, std::uint64_t iteration, std::span<std::byte> out) {
  const auto count = static_cast<unsigned>(out.size() / sizeof(T));
  for (unsigned i = 0; i < count; ++i) {
    T value = contribution<T>(operation, ranks.first, iteration, i);
    for (int rank = ranks.first + 1; rank < ranks.last; ++rank)
      value = combine_two(operation, value, contribution<T>(operation, rank, iteration, i));
    std::memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
  }
}

template <class T>
constexpr ElementType type(std::string_view name, MPI_Datatype (*handle)(), bool reducible = true) {
  return {name, handle, sizeof(T), reducible, std::is_integral_v<T>, combine<T>};
}

const std::array kTypes = {
    type<unsigned char>(
        "char", [] { return MPI_CHAR; }, false),
    type<std::int8_t>("int8", [] { return MPI_INT8_T; }),
    type<std::uint8_t>("uint8", [] { return MPI_UINT8_T; }),
    type<std::int32_t>("int32", [] { return MPI_INT32_T; }),
    type<std::uint32_t>("uint32", [] { return MPI_UINT32_T; }),
    type<std::int64_t>("int64", [] { return MPI_INT64_T; }),
    type<std::uint64_t>("uint64", [] { return MPI_UINT64_T; }),
    type<float>("float", [] { return MPI_FLOAT; }),
    type<double>("double", [] { return MPI_DOUBLE; }),
};

}  // namespace

std::optional<Operation> operation_named(std::string_view name) {
  const auto it = std::find(kOperationNames.begin(), kOperationNames.end(), name);
  if (it == kOperationNames.end()) return std::nullopt;
  return static_cast<Operation>(it - kOperationNames.begin());
}

std::string_view operation_name(Operation operation) {
  return kOperationNames[static_cast<std::size_t>(operation)];
}

std::string operation_names() { return fmt::format("{}", fmt::join(kOperationNames, ", ")); }

bool needs_integers(Operation operation) {
  return operation == Operation::band || operation == Operation::bor ||
         operation == Operation::bxor;
}

bool is_commutative(Operation operation) { return operation != Operation::left; }

const ElementType* type_named(std::string_view name) {
  const auto it = std::find_if(kTypes.begin(), kTypes.end(),
                               [&](const ElementType& type) { return type.name == name; });
  return it == kTypes.end() ? nullptr : &*it;
}

std::string type_names() {
  std::vector<std::string_view> names;
  names.reserve(kTypes.size());
  for (const ElementType& type : kTypes) names.push_back(type.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Pattern::Pattern(const ElementType& type, Operation operation, Ranks ranks, std::uint64_t iteration)
    : type_(&type), period_(kPeriod * type.bytes) {
  type.combine(operation, ranks, iteration, period_);
}

void Pattern::write(std::byte* into, Count start, Count count) const {
  while (count > 0) {
    const Count units = std::min<Count>(count, kPeriod - start % kPeriod);
    const std::size_t bytes = static_cast<std::size_t>(units) * type_->bytes;
    std::memcpy(into, at(start), bytes);
    into += bytes;
    start += units;
    count -= units;
  }
}

std::optional<Count> Pattern::first_difference(const std::byte* found, Count start,
                                               Count count) const {
  for (Count done = 0; done < count;) {
    const Count units = std::min<Count>(count - done, kPeriod - (start + done) % kPeriod);
    const std::byte* expected = at(start + done);
    const std::byte* here = found + static_cast<std::size_t>(done) * type_->bytes;
    if (std::memcmp(here, expected, static_cast<std::size_t>(units) * type_->bytes) != 0) {
      Count i = 0;
      while (std::memcmp(here + static_cast<std::size_t>(i) * type_->bytes,
                         expected + static_cast<std::size_t>(i) * type_->bytes, type_->bytes) == 0)
        ++i;
      return done + i;
    }
    done += units;
  }
  return std::nullopt;
}

std::string Pattern::describe(const std::byte* element) const {
  if (!type_->integral) {
    double value = 0;
    if (type_->bytes == sizeof(float)) {
      float narrow = 0;
      std::memcpy(&narrow, element, sizeof narrow);
      value = narrow;
    } else {
      std::memcpy(&value, element, sizeof value);
    }
    return fmt::format("{}", value);
  }
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, type_->bytes);  // the machines MPI libraries run on: little endian
  return fmt::format("{:#x}", bits);
}

}  // namespace unisono::bench
