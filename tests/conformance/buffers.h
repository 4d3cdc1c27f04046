// Buffers that know which of their bytes are data, and what the test expects of each byte.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops.h"
#include "types.h"

namespace conformance {

/// `count` instances of a datatype from byte `at` on.
struct Block {
  const Type* type = nullptr;
  long long count = 0;
  MPI_Aint at = 0;
};

enum class Expect : unsigned char {
  untouched,  ///< keeps the bytes the program put there
  result,     ///< equals what the MPI library writes
  undefined,  ///< MPI does not say
};

/// The memory around an address that is passed to MPI, with a margin on both sides.
class Buffer {
 public:
  /// Blocks may begin below offset 0: lower bounds and displacements can be negative.
  void cover(const Block& block);
  /// Allocates; then address() is offset 0. All bytes are random.
  void allocate(Rng& rng);

  void* address() { return memory_.data() + origin_; }
  const std::vector<std::uint8_t>& bytes() const { return memory_; }
  MPI_Aint offset_of(std::size_t index) const {
    return static_cast<MPI_Aint>(index) - static_cast<MPI_Aint>(origin_);
  }

  /// Appends the data of a block in the order of the signature.
  void pack(const Block& block, std::vector<std::uint8_t>& to) const;
  /// The reverse; returns where the next block's data begin.
  const std::uint8_t* unpack(const Block& block, const std::uint8_t* from);

  /// Makes the data of a block fit for a reduction.
  void write_values(const Block& block, const Reduction& reduction, Rng& rng);

  /// Marks the data of a block. Padding inside a basic type becomes undefined: both MPI libraries
  /// copy a long double by its value, MPICH 5.0.2 even on the root of a broadcast.
  void mark(std::vector<Expect>& expect, const Block& block, Expect what) const;
  /// Changes one byte of the result, if there is one.
  void spoil(const std::vector<Expect>& expect);

 private:
  std::vector<std::uint8_t> memory_;
  MPI_Aint low_ = 0, high_ = 0;
  std::size_t origin_ = 0;
};

}  // namespace conformance
