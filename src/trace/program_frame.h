// Where the program itself called the library that calls MPI.
#pragma once
#include <array>
#include <cstdint>

namespace unisono::trace {

/// A call of MPI by a library (a solver, an interpreter's extension) is made on behalf of a line of
/// the program. Walks up the stack by unwind tables, which takes a microsecond or so for each
/// frame; what was found is believed as long as the same return address lies where it was found.
/// Not thread-safe.
class ProgramFrames {
 public:
  ProgramFrames();

  /// The return address in the main executable that is the nearest above `site`, the return address
  /// of the call. 0: the call was made there itself, or no unwind tables lead there. `frame` tells
  /// how deep the stack is: the frame address of whoever asks.
  std::uint64_t above(std::uint64_t site, const void* frame);

 private:
  struct Found {
    std::uint64_t site = 0;
    const void* frame = nullptr;
    const std::uint64_t* slot = nullptr;  ///< on this thread's stack; null: not to be found again
    std::uint64_t program = 0;
  };

  bool in_program(std::uint64_t address) const;
  Found walk(std::uint64_t site, const void* frame) const;

  struct Range {
    std::uint64_t start = 0, end = 0;
  };
  std::array<Range, 4> program_{};  ///< executable segments of the main executable
  std::array<Found, 256> known_{};
};

}  // namespace unisono::trace
