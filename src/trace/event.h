// One collective call of one rank, as a trace keeps it: docs/reference/trace.md.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

namespace unisono::trace {

inline constexpr int kFormat = 1;

enum Flag : std::uint32_t { kInPlace = 1, kInter = 2 };

struct Event {
  std::int64_t begin_ns = 0;  ///< arrival, on this machine's CLOCK_MONOTONIC
  std::int64_t end_ns = 0;    ///< 0: never left
  std::uint64_t bytes = 0;    ///< of the signature, as in select's Facts
  std::uint64_t site = 0;     ///< return address in the program
  std::uint32_t communicator = 0;
  std::uint32_t sequence = 0;  ///< of the collectives on that communicator
  std::int32_t root = -1;
  std::uint16_t collective = 0;  ///< position in kCollectiveNames
  std::uint16_t algorithm = 0;   ///< 0: the MPI library's own
  std::uint32_t flags = 0;
  std::uint32_t thread = 0;
  std::uint64_t program = 0;  ///< where the program called the library that `site` is in; 0: none
};

static_assert(sizeof(Event) == 64 && offsetof(Event, algorithm) == 46 &&
              offsetof(Event, thread) == 52);
static_assert(std::endian::native == std::endian::little, "the files are little-endian");

}  // namespace unisono::trace
