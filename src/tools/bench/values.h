// What the buffers hold. Every rank contributes different values in every iteration, and what a
// correct collective delivers can be computed on the spot.
//
// Element i of a contribution depends on (rank, iteration, i mod kPeriod). The period makes
// checking as fast as comparing memory; it is a prime, so that a block that lands in the place of
// another one does not look right by accident. All results are exact in every type: small integers
// for sums, 1 and -1 for products.
#pragma once
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/schedule.h"

namespace unisono::bench {

inline constexpr unsigned kPeriod = 1021;

enum class Operation { sum, prod, min, max, band, bor, bxor, left };

/// "sum", ... ; "left" is a user-defined, non-commutative operation: the left operand.
std::optional<Operation> operation_named(std::string_view name);
std::string_view operation_name(Operation operation);
std::string operation_names();
bool needs_integers(Operation operation);
bool is_commutative(Operation operation);

/// The ranks [first, last) whose contributions are combined in rank order. One rank: no reduction.
struct Ranks {
  int first = 0;
  int last = 0;
};

struct ElementType {
  std::string_view name;
  MPI_Datatype (*handle)();  // Open MPI's handles are no constants
  std::size_t bytes;
  bool reducible;
  bool integral;
  /// Writes elements 0..out.size()/bytes of what `ranks` contribute in `iteration`, combined.
  void (*combine)(Operation, Ranks, std::uint64_t iteration, std::span<std::byte> out);
};

/// "char" (data movement only), "int8", ..., "double".
const ElementType* type_named(std::string_view name);
std::string type_names();

/// A periodic sequence of elements: one period, or less when fewer are asked for.
class Pattern {
 public:
  Pattern(const ElementType& type, Operation operation, Ranks ranks, std::uint64_t iteration);

  /// Writes `count` elements of the sequence from element `start` on.
  void write(std::byte* into, Count start, Count count) const;

  /// The first of `count` elements that is not as expected, or nothing.
  std::optional<Count> first_difference(const std::byte* found, Count start, Count count) const;

  /// Element `index`, for people.
  std::string describe(Count index) const { return describe(at(index)); }
  std::string describe(const std::byte* element) const;

 private:
  const std::byte* at(Count index) const {
    return period_.data() + static_cast<std::size_t>(index % kPeriod) * type_->bytes;
  }

  const ElementType* type_;
  std::vector<std::byte> period_;
};

}  // namespace unisono::bench
